// A filter in twenty lines of C++. docs/C.md shows some of them.
#include <bloomline.hpp>
#include <cstdio>
#include <string>
#include <vector>

static int failed(const char *why)
{
    std::fprintf(stderr, "%s\n", why);
    return 1;
}

int main()
{
    auto filter = bloomline::Filter::create(bloomline::params_for_rate(1000, 0.01)); // 1000 keys at 1 %
    if (!filter) return failed(filter.message());
    filter->insert(bloomline::text("apple")); // or a std::string, {pointer, size}, insert_u64(42)
    filter->insert(std::string("plum"));

    std::vector<std::string> fruit = {"apple", "pear", "plum", "grape"};
    bloomline::Bitmap maybe;
    filter->contains_keys(bloomline::keys(fruit), maybe); // a batch: maybe[i] is the answer for fruit[i]
    for (std::size_t i = 0; i < fruit.size(); i++)
        std::printf("%s: %s\n", fruit[i].c_str(), maybe[i] ? "maybe" : "no");

    auto saved = filter->save("fruit.bloomline");
    if (!saved) return failed(saved.message());
    auto loaded = bloomline::Filter::load("fruit.bloomline");
    if (!loaded) return failed(loaded.message());

    auto bytes = filter->encode(); // for a file or message of your own
    if (!bytes) return failed(bytes.message());
    auto view = bloomline::View::open(*bytes); // probes the bytes where they are
    if (!view) return failed(view.message());
    return loaded->contains(bloomline::text("apple")) && view->contains(bloomline::text("apple")) ? 0 : 1;
}
