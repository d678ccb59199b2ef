// SPDX-License-Identifier: MIT OR Apache-2.0
//
// registration.cpp - "is this user name taken?", asked at every key press of who registers.
//
//     c++ -std=c++17 -O2 -o registration registration.cpp $(pkg-config --cflags --libs bloomline) -pthread
//     ./registration [NAMES | FILE]     1000000 names unless told; FILE has one in each line
//
// The filter has all names that are taken. While a name is typed, "no" is the answer at once,
// and "maybe" is looked up in the users table. The registration itself is always decided by the
// table: the filter only tells what a name was, and two people may want one at the same moment.
// A name is added to the filter once the table has it, and before anybody is told so: docs/CHOOSING.md,
// "Pitfalls", has the rule.
//
// Exit status: 0; 1 if a taken name was called free or the filter is wrong too often; 2 if
// something failed.
#include <bloomline.hpp>

#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_set>
#include <vector>

[[noreturn]] static void fail(const std::string &what, const char *why) {
    std::fprintf(stderr, "registration: %s: %s\n", what.c_str(), why);
    std::exit(2);
}

// The users table: exact, and slow in real life.
class Users {
public:
    bool has(const std::string &name) {
        std::lock_guard lock(mutex_);
        queries_++;
        return names_.count(name) != 0;
    }
    // Whether the name was free, and now is taken: what a UNIQUE column decides.
    bool add(const std::string &name) {
        std::lock_guard lock(mutex_);
        return names_.insert(name).second;
    }
    const std::unordered_set<std::string> &names() const { return names_; }
    std::uint64_t queries() const { return queries_; }

private:
    std::mutex mutex_;
    std::unordered_set<std::string> names_;
    std::uint64_t queries_ = 0;
};

class Registration {
public:
    // The filter has room for half as many names again: make a new one when they have come.
    explicit Registration(Users &users) : users_(users), room_(users.names().size() * 3 / 2 + 100) {
        // Strangers choose the names: with a random seed they cannot prepare names that flood a line.
        auto params = bloomline::with_random_seed(bloomline::params_for_rate(room_, 0.01));
        auto filter = bloomline::ConcurrentFilter::create(params);
        if (!filter) fail("making the filter", filter.message());
        filter_ = *std::move(filter);
        filter_.insert_range(users.names());
    }
    bool is_taken(const std::string &name) const {
        return filter_.contains(name) && users_.has(name);
    }
    bool sign_up(const std::string &name) {
        bool won = users_.add(name);
        // Also if somebody else has won, who may not have come to this line yet.
        filter_.insert(name);
        return won;
    }
    bool is_full() const { return filter_.estimated_keys() > double(room_); }
    double expected_rate() const {
        return bloomline::expected_rate(*filter_.params(), users_.names().size());
    }

private:
    Users &users_;
    std::uint64_t room_;
    bloomline::ConcurrentFilter filter_; // asked and added to by all threads at once
};

int main(int argc, char **argv) {
    std::string source = argc > 1 ? argv[1] : "1000000";
    if (argc > 2 || source.empty()) fail("usage", "registration [NAMES | FILE]");

    Users users;
    if (source.find_first_not_of("0123456789") == std::string::npos) {
        std::uint64_t count = std::strtoull(source.c_str(), nullptr, 10);
        for (std::uint64_t i = 0; i < count; i++) users.add("user" + std::to_string(i));
    } else {
        std::ifstream file(source);
        for (std::string line; std::getline(file, line);) {
            if (!line.empty() && line.back() == '\r') line.pop_back();
            users.add(line);
        }
        if (!file.eof()) fail(source, "cannot be read");
    }
    if (users.names().empty()) fail(source, "has no name");
    std::vector<std::string> taken(users.names().begin(), users.names().end());
    Registration registration(users);

    // Names that are typed and free: what the filter lets through goes to the table in vain.
    constexpr int typed = 200'000;
    int wrong = 0;
    for (int i = 0; i < typed; i++) wrong += registration.is_taken("?typed" + std::to_string(i));
    double measured = double(users.queries()) / typed, expected = registration.expected_rate();
    std::printf("taken     %zu names\n", taken.size());
    std::printf("typed     %d free names, %llu looked up in the table: %.3f %%, %.3f %% expected\n",
                typed, static_cast<unsigned long long>(users.queries()), 100 * measured,
                100 * expected);

    // Two threads sign up for the same names, a tenth of what there is, and look at once.
    const std::size_t wanted = taken.size() / 10 + 1;
    std::atomic<std::size_t> got{0}, denied{0};
    auto people = [&] {
        for (std::size_t i = 0; i < wanted; i++) {
            std::string name = "?new" + std::to_string(i);
            got += registration.sign_up(name);
            denied += !registration.is_taken(name);
        }
    };
    std::thread first(people), second(people);
    first.join();
    second.join();
    std::printf("new       %zu names, wanted by two threads at once: %zu times given away\n", wanted,
                got.load());

    for (const auto &name : taken) denied += !registration.is_taken(name);
    std::printf("missed    %zu times a taken name was called free\n", denied.load());
    std::printf("filter    %s\n", registration.is_full() ? "full: to be made anew" : "has room");

    // Five standard deviations of so many names, and a tenth for a filter of few lines.
    double allowed = 1.1 * expected + 5 * std::sqrt(expected / typed);
    return denied == 0 && wrong == 0 && got == wanted && measured <= allowed ? 0 : 1;
}
