// A filter in twenty lines of C++. The README shows some of them.
#include <bloomline.hpp>
#include <cstdio>
#include <string>
#include <vector>

int main()
{
    auto filter = bloomline::Filter::create(bloomline::params_for_rate(1000, 0.01)); // 1000 keys at 1 %
    if (!filter) return std::fputs(filter.message(), stderr);
    filter->insert(bloomline::text("apple")); // or a std::string, {pointer, size}, insert_u64(42)
    filter->insert(std::string("plum"));

    std::vector<std::string> fruit = {"apple", "pear", "plum", "grape"};
    bloomline::Bitmap maybe;
    filter->contains_keys(bloomline::keys(fruit), maybe); // a batch: maybe[i] is the answer for fruit[i]
    for (std::size_t i = 0; i < fruit.size(); i++)
        std::printf("%s: %s\n", fruit[i].c_str(), maybe[i] ? "maybe" : "no");

    auto saved = filter->save("fruit.bloomline");
    if (!saved) return std::fputs(saved.message(), stderr);
    auto loaded = bloomline::Filter::load("fruit.bloomline");
    if (!loaded) return std::fputs(loaded.message(), stderr);

    auto bytes = filter->encode(); // for a file or message of your own
    if (!bytes) return std::fputs(bytes.message(), stderr);
    auto view = bloomline::View::open(*bytes); // probes the bytes where they are
    if (!view) return std::fputs(view.message(), stderr);
    return loaded->contains(bloomline::text("apple")) && view->contains(bloomline::text("apple")) ? 0 : 1;
}
