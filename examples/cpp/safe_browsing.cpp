// SPDX-License-Identifier: MIT OR Apache-2.0
//
// safe_browsing.cpp - a list of dangerous URLs, built offline and mapped by every client.
//
//     c++ -std=c++17 -O2 -o safe_browsing safe_browsing.cpp $(pkg-config --cflags --libs bloomline)
//     ./safe_browsing build URLS LIST   URLS has one in each line; writes LIST and LIST.server
//     ./safe_browsing check LIST        says of each URL on standard input what it is
//     ./safe_browsing [COUNT]           tries both on a list of 1000000 made-up URLs, or COUNT
//
// LIST is a static filter: 10.5 bits per URL, where a Filter of that rate has 15.6. A client maps it,
// and so visits nearly all pages without asking anybody; only if the filter says "maybe" does it ask
// the server, which has the full hashes. A new list takes the name of the old one in one step, and
// clients that find it open it; if it is damaged, they keep the old one. Without any list they ask
// about every page.
//
// Exit status: 0; 1 if a listed URL was called safe or too many were asked about; 2 if something
// failed. C++17 and POSIX.
#include <bloomline.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

using FullHash = std::array<std::uint64_t, 2>; // a real server would have SHA-256

[[noreturn]] static void fail(const std::string &what, const char *why) {
    std::fprintf(stderr, "safe_browsing: %s: %s\n", what.c_str(), why);
    std::exit(2);
}

// A line without its end, of Windows' files too.
static bool next_line(std::istream &in, std::string &line) {
    if (!std::getline(in, line)) return false;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    return true;
}

static FullHash full_hash(const std::string &url) {
    return {bloomline::hash(url, 1), bloomline::hash(url, 2)};
}

// Replaces a file in one step: a client that opens it has the old one or the new one.
static void replace(const std::string &file, const void *data, std::size_t len) {
    std::ofstream out(file + ".new", std::ios::binary);
    out.write(static_cast<const char *>(data), static_cast<std::streamsize>(len));
    out.close();
    if (!out || std::rename((file + ".new").c_str(), file.c_str()) != 0) fail(file, "cannot be written");
}

static std::size_t build(const std::string &urls, const std::string &list) {
    std::vector<std::uint64_t> hashes;
    std::vector<FullHash> full;
    std::ifstream in(urls);
    for (std::string url; next_line(in, url);) {
        hashes.push_back(bloomline::hash(url));
        full.push_back(full_hash(url));
    }
    if (!in.eof()) fail(urls, "cannot be read");
    auto filter = bloomline::static_block_build(hashes, 0.001);
    if (!filter) fail("making the filter", filter.message());

    // The server's file first: what a client asks about, the server then knows.
    std::sort(full.begin(), full.end());
    replace(list + ".server", full.data(), full.size() * sizeof full[0]);
    if (auto saved = bloomline::block_save(*filter, list); !saved) fail(list, saved.message());
    return hashes.size();
}

class Client {
public:
    explicit Client(const std::string &list) : list_(list) { refresh(); }

    // Opens the list if it is another one than last time; returns whether there is a new one.
    bool refresh() {
        struct stat now;
        if (stat(list_.c_str(), &now) != 0) return false;
        // A file that is mapped keeps its number, so that a new one has another.
        if (map_ && now.st_ino == inode_ && now.st_dev == device_) return false;
        auto map = bloomline::Map::open(list_); // all of it checked
        if (!map) {
            std::fprintf(stderr, "safe_browsing: %s is not used: %s\n", list_.c_str(), map.message());
            return false;
        }
        map_ = *std::move(map);
        view_ = map_.view();
        inode_ = now.st_ino, device_ = now.st_dev;
        return true;
    }
    // Without a list the view is one that says "maybe" to everything.
    bool may_be_listed(const std::string &url) const { return view_.contains(url); }
    bool is_dangerous(const std::string &url) { return may_be_listed(url) && ask_server(url); }

    std::size_t asked = 0;

private:
    bool ask_server(const std::string &url) {
        asked++;
        std::ifstream server(list_ + ".server", std::ios::binary | std::ios::ate);
        const FullHash wanted = full_hash(url);
        FullHash found{};
        long low = 0, high = long(server.tellg()) / long(sizeof found);
        while (low < high) {
            long middle = low + (high - low) / 2;
            server.seekg(middle * long(sizeof found));
            server.read(reinterpret_cast<char *>(&found), sizeof found);
            if (found == wanted) return true;
            if (found < wanted) low = middle + 1;
            else high = middle;
        }
        if (!server) fail("the server", "does not answer");
        return false;
    }

    std::string list_;
    bloomline::Map map_;
    bloomline::View view_;
    ino_t inode_ = 0;
    dev_t device_ = 0;
};

static std::string bad_url(std::size_t i) { return "http://bad.example/" + std::to_string(i); }

static int try_it(std::size_t count, const std::string &directory) {
    const std::string urls = directory + "/urls", list = directory + "/list";
    auto publish = [&](std::size_t listed) {
        std::ofstream out(urls);
        for (std::size_t i = 0; i < listed; i++) out << bad_url(i) << '\n';
        out.close();
        if (!out) fail(urls, "cannot be written");
        build(urls, list);
    };
    std::size_t missed = 0;
    auto visit = [&](Client &client, std::size_t listed) {
        for (std::size_t i = 0; i < listed; i++) missed += !client.may_be_listed(bad_url(i));
        for (std::size_t i = 0; i < listed; i += listed / 100 + 1)
            missed += !client.is_dangerous(bad_url(i));
    };
    publish(count);
    Client client(list);
    visit(client, count);
    const bloomline::Params plain = *bloomline::params_for_rate(count, 0.001);
    std::printf("list      %zu URLs, %.2f MB; a Filter has %.2f\n", count,
                double(std::filesystem::file_size(list)) / 1e6, 64e-6 * double(plain.line_count));

    const std::size_t pages = 200'000;
    std::size_t wrong = 0;
    client.asked = 0;
    for (std::size_t i = 0; i < pages; i++)
        wrong += client.is_dangerous("http://good.example/" + std::to_string(i));
    const double rate = double(client.asked) / double(pages);
    std::printf("safe      %zu pages visited, %zu asked about: %.3f %%, up to 0.100 %% expected\n",
                pages, client.asked, 100 * rate);

    publish(count + count / 10 + 1);
    const bool renewed = client.refresh();
    visit(client, count + count / 10 + 1);
    std::printf("new list  %s, %zu URLs\n", renewed ? "found" : "NOT FOUND", count + count / 10 + 1);

    std::filesystem::copy_file(list, list + ".cut");
    std::filesystem::resize_file(list + ".cut", std::filesystem::file_size(list) / 2);
    std::filesystem::rename(list + ".cut", list);
    const bool refused = !client.refresh();
    visit(client, count + count / 10 + 1);
    std::printf("cut list  %s\n", refused ? "refused, the one before is kept" : "ACCEPTED");
    std::printf("missed    %zu times a listed URL was called safe\n", missed);
    const bool good_rate = rate <= 0.0011 + 5 * std::sqrt(0.001 / double(pages));
    return missed == 0 && wrong == 0 && renewed && refused && good_rate ? 0 : 1;
}

int main(int argc, char **argv) {
    const std::string mode = argc > 1 ? argv[1] : "1000000";
    if (mode == "build" && argc == 4) {
        std::printf("%zu URLs listed\n", build(argv[2], argv[3]));
        return 0;
    }
    if (mode == "check" && argc == 3) {
        Client client(argv[2]);
        for (std::string url; next_line(std::cin, url);) {
            client.refresh(); // every few minutes in real life
            std::cout << (client.is_dangerous(url) ? "DANGEROUS  " : "safe       ") << url << std::endl;
        }
        return 0;
    }
    const std::size_t count = std::strtoull(mode.c_str(), nullptr, 10);
    if (argc > 2 || count == 0) fail("usage", "build URLS LIST | check LIST | [COUNT]");
    std::string directory = (std::filesystem::temp_directory_path() / "safe_browsing.XXXXXX").string();
    if (mkdtemp(directory.data()) == nullptr) fail(directory, "cannot be made");
    const int status = try_it(count, directory);
    std::filesystem::remove_all(directory);
    return status;
}
