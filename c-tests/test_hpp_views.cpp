// SPDX-License-Identifier: MIT OR Apache-2.0
//
// test_hpp_views.cpp - bloomline.hpp over bytes: views, maps, lines of the caller's, blocks and their builders, the
// blocks of other engines; statuses and versions. The filters are in test_hpp.cpp, many of them and columns in
// test_hpp_many.cpp. All are built without exceptions and RTTI, too.
#include "hpp.h"

namespace {

void version_and_abi()
{
    static_assert(version_number == BLOOMLINE_VERSION);
    CHECK(abi_matches());
    CHECK_U64(BLOOMLINE_ABI_VERSION, abi_version);
    CHECK(std::string_view(version()) == bloomline_version());
    CHECK(std::string_view(backend()) == bloomline_backend());
}

void statuses()
{
    CHECK(Status());
    CHECK(!Status(BLOOMLINE_ERR_K));
    CHECK(std::string_view(Status(BLOOMLINE_ERR_K).message()) == bloomline_status_message(BLOOMLINE_ERR_K));
    auto rate = params_for_rate(10, 2.0);
    CHECK(!rate && rate.code() == BLOOMLINE_ERR_RATE && rate.status().code() == BLOOMLINE_ERR_RATE);
    CHECK(params_for_bits(10, -1).code() == BLOOMLINE_ERR_BITS_PER_KEY);
    CHECK(Filter::create(Params{1, 99, 0, 0}).code() == BLOOMLINE_ERR_K);
    /* What was wrong with the parameters, and not with those that a failed Result has. */
    CHECK(Filter::create(params_for_rate(10, 2.0)).code() == BLOOMLINE_ERR_RATE);
    CHECK(Filter::create(classic_params_for_bits(10, -1)).code() == BLOOMLINE_ERR_BITS_PER_KEY);
    CHECK(ConcurrentFilter::create(params_for_rate(10, 2.0)).code() == BLOOMLINE_ERR_RATE);
    CHECK(CountingFilter::create(params_for_rate(10, 2.0)).code() == BLOOMLINE_ERR_RATE);
    CHECK(CuckooFilter::create(cuckoo_params_for_rate(10, 2.0)).code() == BLOOMLINE_ERR_RATE);
    CHECK(CuckooFilter::create(cuckoo_params_for_rate(10, 0.01)));
    CHECK(!*Filter::create(Params{1, 99, 0, 0}));
    CHECK(Filter::decode("no filter"sv).code() == BLOOMLINE_ERR_TRUNCATED);
    CHECK(Filter::load("/no/such/file").code() == BLOOMLINE_ERR_NOT_FOUND);
    CHECK(Map::open("/no/such/file").code() == BLOOMLINE_ERR_NOT_FOUND);
    CHECK(Map::open_unverified("/no/such/file").code() == BLOOMLINE_ERR_NOT_FOUND);
    CHECK(View::open("no filter"sv).code() == BLOOMLINE_ERR_TRUNCATED);
    CHECK(View::open_unverified("no filter"sv).code() == BLOOMLINE_ERR_TRUNCATED);
    CHECK(Builder::create(0).code() == BLOOMLINE_ERR_BITS_PER_KEY);
    CHECK(make_filter(1000).merge(make_filter(2000)).code() == BLOOMLINE_ERR_MISMATCH);
    CHECK(make_filter().fold_to_rate(0).code() == BLOOMLINE_ERR_RATE);
}

void keys_that_lie_anywhere_and_a_function()
{
    Filter filter = make_filter();
    filter.insert("apple"sv);
    const bloomline_bytes apple = Bytes("apple"sv), pear = Bytes("pear"sv);
    const std::vector<const bloomline_bytes *> keys = {&pear, nullptr, &apple};
    bool present[3] = {true, false, false};
    filter.contains_each(keys, present);
    CHECK_U64(SIZE_MAX, filter.fewest_each()); // a small one
    CHECK(!present[0] && present[1] && present[2]);
    const View view = filter.view();
    const bloomline_contains_fn contains = view.contains_fn();
    CHECK(contains(&view.get(), "apple", 5) && !contains(&view.get(), "pear", 4));
    CHECK(View().contains_fn()(&view.get(), "apple", 5));
    bool all[3] = {};
    View().contains_each(keys, all);
    CHECK(all[0] && all[1] && all[2]);
}

void lines_united()
{
    auto params = params_for_rate(100, 0.01, 7);
    auto one = Filter::create(params), other = Filter::create(params);
    one->insert("apple"sv);
    other->insert("pear"sv);
    const View view = one->view();
    std::vector<std::uint8_t> lines(other->view().lines().size());
    CHECK(lines_union(*params, lines.data(), lines.size(), view.lines()));
    CHECK(lines_union(*params, lines.data(), lines.size(), other->view().lines()));
    auto both = lines_view(*params, lines.data(), lines.size());
    CHECK(both->contains("apple"sv) && both->contains("pear"sv) && !both->contains("plum"sv));
    CHECK(lines_union(*params, lines.data(), lines.size() - 1, view.lines()).code() == BLOOMLINE_ERR_BUFFER_TOO_SMALL);
    CHECK(lines_intersect(*params, lines.data(), lines.size(), view.lines()));
    CHECK(both->contains("apple"sv) && !both->contains("pear"sv));
    CHECK(lines_intersect(*params, lines.data(), lines.size() - 1, view.lines()).code() == BLOOMLINE_ERR_BUFFER_TOO_SMALL);
}

void bytes_files_and_views()
{
    Filter filter = make_filter();
    filter.insert("apple"sv);
    auto data = filter.encode();
    CHECK(data && data->size() == filter.encoded_len());
    auto view = View::open(*data);
    CHECK(view && view->contains("apple"sv) && !view->contains("plum"sv));
    CHECK_U64(hash_u64(5, 7), view->hash_u64(5));
    CHECK(!view->contains_u64(5));
    CHECK_U64(1, view->key_count());
    CHECK(view->params() && view->params()->line_count == filter.params()->line_count);
    CHECK((*View::open_unverified(*data)).contains("apple"sv));
    auto decoded = Filter::decode(*data);
    CHECK(decoded && decoded->contains("apple"sv) && *decoded->encode() == *data);
    std::size_t written = 0;
    CHECK(!filter.encode(data->data(), data->size() - 1, &written) && written == 0);
    CHECK(filter.encode(data->data(), data->size(), &written) && written == data->size());

    std::string path = file_name("plain");
    CHECK(filter.save(path));
    auto loaded = Filter::load(path);
    CHECK(loaded && loaded->contains("apple"sv));
    auto map = Map::open(path), unverified = Map::open_unverified(path);
    CHECK(std::remove(path.c_str()) == 0);
    CHECK(map && map->view().contains("apple"sv) && !map->view().contains("plum"sv));
    CHECK(unverified && unverified->view().contains("apple"sv));

    Filter empty = make_filter();
    std::vector<View> views = {filter.view(), empty.view(), map->view(), View()};
    Bitmap bitmap;
    const std::vector<const View *> anywhere = {&views[2], nullptr, &views[1]};
    CHECK_U64(2, views_contain_each(anywhere, "apple"sv, bitmap));
    CHECK(bitmap[0] && bitmap[1] && !bitmap[2]);
    CHECK_U64(2, views_contain_hash_each(anywhere, filter.view().hash("apple"sv), bitmap));
    CHECK_U64(3, views_contain_hash(views, filter.view().hash("apple"sv), bitmap));
    CHECK(bitmap[0] && !bitmap[1] && bitmap[2] && bitmap[3]);
}

// A filter that goes where its bytes go, and a block that goes to a file and comes back.
template <class B>
B bytes_as(const Buffer &bytes)
{
    return B(bytes.begin(), bytes.end());
}

template <class B>
void check_owner(const Buffer &encoded, std::uint64_t hash, std::uint64_t absent)
{
    auto opened = OwnedView<B>::open(bytes_as<B>(encoded)), unverified = OwnedView<B>::open_unverified(bytes_as<B>(encoded));
    REQUIRE(opened && unverified);
    CHECK(opened->contains_hash(hash) && !opened->contains_hash(absent) && unverified->contains_hash(hash));
    OwnedView<B> owner = *std::move(opened); /* the bytes go along, those of a short std::string too */
    const View view = owner.view();
    OwnedView<B> other = std::move(owner);
    CHECK(other && view.contains_hash(hash) && !view.contains_hash(absent) && !other.contains_hash(absent));
    CHECK(other.bytes()->size() == encoded.size());
    CHECK(!owner && owner.bytes() == nullptr && owner.contains_hash(absent)); // NOLINT: empty after a move
    other = OwnedView<B>();
    CHECK(!other && other.contains_hash(absent));
    B damaged = bytes_as<B>(encoded);
    damaged[0] = static_cast<typename B::value_type>(damaged[0] ^ 1);
    auto refused = OwnedView<B>::open(std::move(damaged));
    CHECK(refused.code() == BLOOMLINE_ERR_CHECKSUM && !*refused && refused->contains_hash(absent));
    CHECK(OwnedView<B>::open(B()).code() == BLOOMLINE_ERR_TRUNCATED);
}

void owners_and_blocks()
{
    Filter filter = make_filter();
    filter.insert_hash(hash_u64(1, 7));
    const std::vector<std::uint64_t> included = {hash_u64(1, 7)}, excluded = hash_u64_batch(std::vector<std::uint64_t>{2, 3}, 7);
    const auto cascade = Cascade::create(included, excluded, 0, 7);
    const Buffer block = *static_block_build(included, 0.01, 7);
    for (const Buffer &encoded : {*filter.encode(), block, *cascade->encode()}) {
        check_owner<Buffer>(encoded, included[0], excluded[0]);
        check_owner<std::string>(encoded, included[0], excluded[0]);

        auto over = Map::of_bytes(encoded), unverified = Map::of_bytes_unverified(encoded);
        CHECK(over && over->contains_u64(1) && !over->contains_hash(excluded[0]) && unverified->contains_u64(1));
        std::string path = file_name("block");
        CHECK(block_save(encoded, path));
        CHECK(block_save({encoded.data(), encoded.size() - 1}, path).code() == BLOOMLINE_ERR_NOT_A_FILTER);
        auto map = Map::open(path), loaded = Map::load(path);
        CHECK(std::remove(path.c_str()) == 0);
        REQUIRE(map && loaded);
        Map moved = *std::move(map);
        CHECK(moved.contains_u64(1) && !moved.contains_hash(excluded[0]) && loaded->contains_u64(1));
        CHECK(!loaded->contains_hash(excluded[0]) && loaded->estimated_keys() == moved.estimated_keys());
    }
    const View of_cascade = cascade->view();
    CHECK(of_cascade.contains_u64(1) && !of_cascade.contains_hash(excluded[0]));
    const auto scalable = ScalableFilter::create(10, 0.01);
    const auto window = Window::create(2, 10, 0.01);
    CHECK(!scalable->view().contains("apple"sv) && !window->view().contains("apple"sv));
    CHECK(Map::load("/no/such/file").code() == BLOOMLINE_ERR_NOT_FOUND);
    CHECK(block_save(block, "/no/such/directory/file").code() == BLOOMLINE_ERR_NOT_FOUND);

    const std::uint64_t apple = RocksDb::hash("apple"sv);
    auto rocksdb = OwnedView<>::open_rocksdb(*RocksDb::block_build({&apple, 1}, 10));
    CHECK(rocksdb && rocksdb->contains("apple"sv) && !rocksdb->contains("pear"sv));
    const std::uint64_t pear = LevelDb::hash("pear"sv);
    auto leveldb = OwnedView<>::open_leveldb(*LevelDb::block_build({&pear, 1}, 10));
    CHECK(leveldb && leveldb->contains("pear"sv) && !leveldb->contains("apple"sv));
    const std::uint64_t plum = Parquet::hash("plum"sv);
    auto parquet = OwnedView<>::open_parquet(*Parquet::block_build({&plum, 1}, 10));
    CHECK(parquet && parquet->contains("plum"sv) && !parquet->contains("apple"sv));
    auto bits = OwnedView<>::open_parquet_bits(Buffer(32));
    CHECK(bits && !bits->contains("plum"sv) && !OwnedView<>::open_parquet(Buffer(32)));
}

void a_flooded_line_shows()
{
    auto made = Filter::create(Params{100, 6, 0, 0});
    REQUIRE(made);
    Filter filter = *std::move(made);
    CHECK(filter.worst_line_rate() == 0 && Filter().worst_line_rate() == 1 && View().worst_line_rate() == 1);
    for (std::uint64_t i = 0; i < 2000; i++) filter.insert_hash(hash_u64(i) >> 8 | 1); // the first line
    CHECK(filter.worst_line_rate() > 0.99 && filter.estimated_rate() < 0.02);
    CHECK(filter.view().worst_line_rate() == filter.worst_line_rate());
    const ViewFacts facts = filter.facts();
    CHECK(facts.fill == filter.fill() && facts.estimated_keys == filter.estimated_keys());
    CHECK(facts.estimated_rate == filter.estimated_rate() && facts.worst_line_rate > 0.99);
}

void blocks_and_builders()
{
    const auto params = params_for_bits(300, 10, 7);
    auto builder = Builder::create(10, 7), by_rate = Builder::create_for_rate(0.01, 7);
    REQUIRE(params && builder && by_rate);
    const auto strings = some_strings(300);
    const auto batch = keys(strings);
    auto hashes = hash_batch(batch, 7);
    const auto block = block_build(*params, hashes);
    REQUIRE(block);
    CHECK_U64(block_len(*params), block->size());
    const auto is_finished = [&] {
        CHECK_U64(300, builder->key_count());
        CHECK_U64(block->size(), builder->block_len());
        const auto finished = builder->finish();
        CHECK(finished && *finished == *block);
        CHECK_U64(0, builder->key_count());
    };
    for (std::size_t i = 0; i < 300; i++) CHECK(i % 2 ? builder->add(strings[i]) : builder->add_hash(hashes[i]));
    is_finished();
    CHECK(builder->add_keys(batch));
    is_finished();
    CHECK(builder->add_hashes(hashes));
    is_finished();
    CHECK(builder->add_u64(99));
    const auto of_u64 = builder->finish();
    CHECK(of_u64 && (*View::open(*of_u64)).contains_u64(99));
    CHECK(builder->add_hashes({hashes.data(), 100}));
    builder->clear();
    CHECK_U64(0, builder->key_count());
    CHECK(by_rate->add_keys(batch));
    CHECK_U64(block_len(*params_for_rate(300, 0.01)), by_rate->block_len());
    CHECK(block_build(*params, hashes, nullptr, 10).code() == BLOOMLINE_ERR_NULL);
    std::vector<std::uint8_t> lines(params->line_count * 64), own(block->size());
    CHECK(block_build(*params, hashes, own.data(), 10).code() == BLOOMLINE_ERR_BUFFER_TOO_SMALL);
    CHECK(block_build(*params, hashes, own.data(), own.size()) && own == *block);
    CHECK(block_build(Params{0, 1, 0, 0}, hashes).code() != BLOOMLINE_OK);
    CHECK(lines_insert_hashes(*params, lines.data(), lines.size(), hashes));
    CHECK(std::equal(lines.begin(), lines.end(), block->begin()));
    CHECK((*lines_view(*params, lines.data(), lines.size())).contains("key 0"sv));
    CHECK(lines_view(*params, lines.data(), 63).code() == BLOOMLINE_ERR_BUFFER_TOO_SMALL);
    // A static filter is shorter than its block_len(), and the buffer as long as it is.
    auto fixed = Builder::create_static(0.01, 7);
    CHECK(fixed && fixed->add_keys(batch));
    size_t most = fixed->block_len();
    auto small = fixed->finish(), at_once = static_block_build(hashes, 0.01, 7);
    CHECK(small && at_once && *small == *at_once && small->size() <= most);
    CHECK_U64(static_block_len(hashes.size(), 0.01), most);
    CHECK(*static_block_build(hashes, 0.01, 7, 2) == *at_once);
    auto fixed_view = View::open(*small);
    CHECK(fixed_view && fixed_view->contains_hash(hashes.front()) && fixed_view->contains_hash(hashes.back()));
    CHECK(Builder::create_static(1).code() == BLOOMLINE_ERR_RATE);
    CHECK(static_block_build(hashes, 2).code() == BLOOMLINE_ERR_RATE);
    CHECK(Builder::create_for_rate(0).code() == BLOOMLINE_ERR_RATE);
    CHECK_STATUS(BLOOMLINE_ERR_NULL, Builder().add_keys(batch).code());
}

// The bytes and hashes are those of the C functions, which test_engine_views.c and the golden files
// check against the engines.
template <class Engine>
void one_engine(std::uint64_t expected_hash, Result<View> (*open)(Bytes))
{
    const auto strings = some_strings(300);
    std::vector<std::uint64_t> hashes;
    for (const auto &string : strings) hashes.push_back(Engine::hash(string));
    CHECK(Engine::hash_batch(keys(strings)) == hashes);
    CHECK_U64(expected_hash, Engine::hash("apple"sv));
    const auto block = Engine::block_build(hashes, 10);
    REQUIRE(block);
    CHECK_U64(Engine::block_len(300, 10), block->size());
    std::vector<std::uint8_t> own(block->size());
    std::size_t written = 0;
    CHECK(Engine::block_build(hashes, 10, own.data(), own.size(), &written) && written == own.size() && own == *block);
    CHECK_STATUS(BLOOMLINE_ERR_BUFFER_TOO_SMALL, Engine::block_build(hashes, 10, own.data(), 3).code());
    CHECK_STATUS(BLOOMLINE_ERR_BITS_PER_KEY, Engine::block_build(hashes, -1).code());
    const auto view = open(*block);
    REQUIRE(view);
    std::size_t missing = 0, wrong = 0;
    for (const auto &string : strings) missing += !view->contains(string), wrong += view->contains(string + "?");
    CHECK_U64(0, missing);
    CHECK(wrong < 20 && view->hash("apple"sv) == expected_hash);
}

void engines()
{
    one_engine<RocksDb>(bloomline_engine_hash(BLOOMLINE_ENGINE_ROCKSDB, "apple", 5), View::open_rocksdb);
    one_engine<RocksDbLegacy>(bloomline_engine_hash(BLOOMLINE_ENGINE_ROCKSDB_LEGACY, "apple", 5), View::open_rocksdb);
    one_engine<LevelDb>(bloomline_engine_hash(BLOOMLINE_ENGINE_LEVELDB, "apple", 5), View::open_leveldb);
    one_engine<Parquet>(bloomline_engine_hash(BLOOMLINE_ENGINE_PARQUET, "apple", 5), View::open_parquet);
    CHECK((*View::open_leveldb(""sv)).contains("apple"sv) == false);
}

void without_a_call()
{
    Filter filter = make_filter(), twin = make_filter();
    const View view = filter.view();
    const Inline inlined(view);
    for (std::uint64_t key = 0; key < 1000; key++) {
        twin.insert_hash(bloomline_hash_u64(key, 7));
        CHECK(inlined.insert_hash(bloomline_hash_u64(key, 7)));
    }
    for (std::uint64_t key = 0; key < 3000; key++) {
        inlined.prefetch_hash(bloomline_hash_u64(key, 7));
        CHECK(inlined.contains_hash(bloomline_hash_u64(key, 7)) == twin.contains_u64(key));
    }
    const View none;
    CHECK(Inline(none).contains_hash(1) && !Inline(none).insert_hash(1));
}

void seeds_and_sizes()
{
    auto a = with_random_seed(params_for_rate(1000, 0.01)), b = with_random_seed(*a);
    REQUIRE(a && b);
    CHECK(a->seed != b->seed && a->seed != 0 && a->line_count == b->line_count && a->k == b->k);
    auto cuckoo = with_random_seed(cuckoo_params_for_rate(1000, 0.01));
    CHECK(cuckoo && cuckoo->seed != 0 && CuckooFilter::create(cuckoo));
    auto seed = random_seed();
    CHECK(seed && *seed != a->seed && *seed != *random_seed());
    CHECK(with_random_seed(params_for_rate(10, 2.0)).code() == BLOOMLINE_ERR_RATE);
    CHECK(with_random_seed(cuckoo_params_for_rate(10, 2.0)).code() == BLOOMLINE_ERR_RATE);

    auto params = foldable(params_for_rate(5000, 0.01), 5);
    REQUIRE(params);
    CHECK_U64(0, params->line_count % 32);
    auto filter = Filter::create(params);
    REQUIRE(filter);
    filter->insert("apple"sv);
    for (int i = 0; i < 5; i++) CHECK(filter->fold());
    CHECK_U64(params->line_count / 32, filter->params()->line_count);
    CHECK(filter->contains("apple"sv));
    CHECK(foldable(params_for_rate(10, 2.0), 5).code() == BLOOMLINE_ERR_RATE);
    CHECK(foldable(*params, 64).code() == BLOOMLINE_ERR_LINE_COUNT);
}

void swaps()
{
    const Params params{20, 6, 0, 3};
    auto first = Filter::create(params), next = Filter::create(Params{20, 6, BLOOMLINE_KIND_CLASSIC, 3});
    REQUIRE(first && next);
    first->insert("apple"sv);
    next->insert("pear"sv);
    next->insert_u64(7);
    auto swap = Swap::create(std::move(*first));
    REQUIRE(swap);
    CHECK(!*first && swap->snapshot().contains("apple"sv) && !swap->snapshot().contains("pear"sv));
    Snapshot old = swap->snapshot(), same = swap->snapshot();
    CHECK(old.get() == same.get());
    CHECK_OK(swap->publish(std::move(*next)).code());
    CHECK(!*next && swap->snapshot().contains("pear"sv) && swap->snapshot().contains_u64(7) && !swap->snapshot().contains("apple"sv));
    CHECK(old.view().contains("apple"sv) && !old.view().contains("pear"sv));
    Snapshot moved = std::move(old);
    CHECK(old.get() == nullptr && old.view().contains("anything"sv) && moved.view().contains("apple"sv));
    std::vector<std::string> names = {"apple", "pear"};
    std::vector<std::uint64_t> hashes = hash_batch(keys(names), 3);
    Bitmap maybe;
    CHECK_U64(1, swap->snapshot().contains_keys(keys(names), maybe));
    CHECK_U64(1, swap->snapshot().contains_hashes(hashes, maybe));
    CHECK(!maybe[0] && maybe[1] && swap->snapshot().contains_hash(hashes[1]));
    CHECK_STATUS(BLOOMLINE_ERR_NULL, swap->publish(Filter()).code());
    CHECK_STATUS(BLOOMLINE_ERR_NULL, Swap::create(Filter()).code());
    Swap none;
    const Snapshot nothing = none.snapshot();
    CHECK(none.snapshot().contains("anything"sv) && nothing.view().contains("anything"sv));
    Filter kept = *Filter::create(params);
    CHECK_STATUS(BLOOMLINE_ERR_NULL, none.publish(std::move(kept)).code());
    CHECK(bool(kept));
}

void values_or_others()
{
    CHECK_U64(5, params_for_rate(10, 2.0).value_or(Params{5, 6, 0, 0}).line_count);
    CHECK(params_for_rate(1000, 0.01).value_or(Params{}).line_count > 0);
    const auto folds = make_filter().fold_to_rate(0);
    CHECK_U64(7, folds.value_or(7));
    Filter other = make_filter();
    other.insert("apple"sv);
    Filter loaded = Filter::load("/no/such/file").value_or(std::move(other)); /* moves what cannot be copied */
    CHECK(loaded.contains("apple"sv) && !loaded.contains("plum"sv));
}

} // namespace

int main()
{
    check_begin("test_hpp_views");
    RUN(version_and_abi);
    RUN(statuses);
    RUN(keys_that_lie_anywhere_and_a_function);
    RUN(lines_united);
    RUN(bytes_files_and_views);
    RUN(owners_and_blocks);
    RUN(a_flooded_line_shows);
    RUN(blocks_and_builders);
    RUN(engines);
    RUN(without_a_call);
    RUN(seeds_and_sizes);
    RUN(swaps);
    RUN(values_or_others);
    return check_end();
}
