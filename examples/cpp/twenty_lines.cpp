#include <bloomline.hpp>
#include <cstdio>
#include <string>
#include <vector>

int main()
{
    std::vector<std::string> fruit = {"apple", "pear", "plum"};
    auto builder = bloomline::Builder::create(10.0); // bits per key: 1 % are wrong
    if (!builder) return std::fputs(builder.message(), stderr);
    for (const auto &key : fruit) {
        if (auto status = builder->add(key); !status) return std::fputs(status.message(), stderr);
    }
    auto block = builder->finish(); // the bytes, ready for the block of a table file
    auto view = bloomline::View::open(*block); // probed where they are, all checked
    if (!view) return std::fputs(view.message(), stderr);

    fruit.push_back("grape");
    bloomline::Bitmap maybe;
    view->contains_keys(bloomline::keys(fruit), maybe); // the whole batch in one call
    for (std::size_t i = 0; i < fruit.size(); i++)
        std::printf("%s: %s\n", fruit[i].c_str(), maybe[i] ? "maybe" : "no");
}
