/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * harness.hpp - what the tests on the engines share: checks, keys, a directory that is
 * removed. Also used by the benchmark. Uses the C++ library and POSIX.
 *
 * A program is `int main() { Begin("test_x"); RUN(a_test); return End(); }`, and ends with
 * "N passed, N failed"; it exits with 1 if any failed, or if none ran.
 */
#ifndef BLOOMLINE_HARNESS_HPP
#define BLOOMLINE_HARNESS_HPP

#include <bloomline.h>

#include <algorithm>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <unistd.h>

namespace harness {

inline unsigned long passed, failed, checks, failures;

inline void Begin(const char *program)
{
    setvbuf(stdout, nullptr, _IOLBF, 0);
    std::printf("%s: bloomline %s, backend %s\n", program, bloomline_version(), bloomline_backend());
}

inline int End()
{
    std::printf("%lu passed, %lu failed\n", passed, failed);
    return failed > 0 || passed == 0;
}

inline bool Check(bool good, const char *what, const char *file, int line)
{
    checks++;
    /* A loop that fails fails often. */
    if (!good && failures++ < 10)
        std::printf("    %s:%d: %s\n", file, line, what);
    return good;
}

inline void CheckSame(uint64_t want, uint64_t got, const char *what, const char *file, int line)
{
    if (!Check(want == got, what, file, line) && failures <= 10)
        std::printf("        want %" PRIu64 ", got %" PRIu64 "\n", want, got);
}

inline void Run(void (*test)(), const char *name)
{
    checks = failures = 0;
    test();
    bool good = checks > 0 && failures == 0;
    std::printf("  %s  %s (%lu checks, %lu failed)\n", good ? "ok    " : "FAILED", name, checks,
                failures);
    (good ? passed : failed)++;
}

/* splitmix64: the same numbers each time. */
class Random {
public:
    explicit Random(uint64_t seed)
        : state_(seed)
    {
    }
    uint64_t Next()
    {
        uint64_t z = state_ += 0x9E3779B97F4A7C15u;
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
        z = (z ^ z >> 27) * 0x94D049BB133111EBu;
        return z ^ z >> 31;
    }
    std::string Bytes(size_t len)
    {
        std::string bytes(len, '\0');
        for (char &byte : bytes)
            byte = static_cast<char>(Next());
        return bytes;
    }

private:
    uint64_t state_;
};

/* The paths of the files of this machine, sorted, at most `most`. */
inline std::vector<std::string> Paths(size_t most)
{
    std::vector<std::string> paths;
    FILE *find = popen("find / -xdev -print0 2>/dev/null", "r");
    if (find == nullptr)
        return paths;
    char *path = nullptr;
    size_t room = 0;
    while (paths.size() < most && getdelim(&path, &room, '\0', find) > 0)
        paths.emplace_back(path);
    free(path);
    pclose(find);
    std::sort(paths.begin(), paths.end());
    return paths;
}

/* What a database of these tests has of each kind, at least. */
constexpr size_t kPaths = 200000, kRandomKeys = 50000;

/* Makes `paths` as many as `n` where a machine has fewer files: the same, in directories that are
 * not there. */
inline void DerivePaths(std::vector<std::string> &paths, size_t n)
{
    const size_t real = paths.size();
    for (size_t i = 0; real > 0 && paths.size() < n; i++)
        paths.push_back("/copy-" + std::to_string(i / real + 1) + paths[i % real]);
}

inline bool IsPath(const std::string &key)
{
    return !key.empty() && key[0] == '/';
}

/* Sorted keys without repeats: `kPaths` file paths, and `kRandomKeys` of random bytes and random
 * lengths, none of which looks like a path. */
inline std::vector<std::string> Keys()
{
    std::vector<std::string> keys = Paths(kPaths);
    const size_t real = keys.size();
    DerivePaths(keys, kPaths);
    std::printf("  keys: %zu file paths of this machine, %zu derived from them, %zu random ones\n", real,
                keys.size() - real, kRandomKeys);
    Random random(1);
    for (size_t i = 0; i < kRandomKeys;) {
        std::string key = random.Bytes(8 + random.Next() % 40);
        if (IsPath(key))
            continue;
        keys.push_back(std::move(key));
        i++;
    }
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    return keys;
}

/* As many keys that are not among the sorted `keys`, of the same kind. */
inline std::vector<std::string> Missing(const std::vector<std::string> &keys)
{
    std::vector<std::string> missing;
    Random random(2);
    for (const std::string &key : keys) {
        std::string other = key;
        other[random.Next() % other.size()] ^= static_cast<char>(1 + random.Next() % 255);
        if (!std::binary_search(keys.begin(), keys.end(), other))
            missing.push_back(other);
    }
    return missing;
}

class Directory {
public:
    Directory()
    {
        std::string name = (std::filesystem::temp_directory_path() / "bloomline-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr) {
            std::perror("mkdtemp");
            std::exit(2);
        }
        path_ = name;
    }
    Directory(const Directory &) = delete;
    Directory &operator=(const Directory &) = delete;
    ~Directory()
    {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    std::string operator/(const std::string &name) const
    {
        return path_ + "/" + name;
    }

private:
    std::string path_;
};

}  // namespace harness

#define RUN(test) harness::Run(test, #test)
#define CHECK(condition) harness::Check(static_cast<bool>(condition), #condition, __FILE__, __LINE__)
#define CHECK_SAME(want, got) \
    harness::CheckSame(static_cast<uint64_t>(want), static_cast<uint64_t>(got), #got, __FILE__, __LINE__)
/* For what the rest cannot do without; `status` is one of an engine. */
#define REQUIRE_OK(expression)                                                              \
    do {                                                                                    \
        auto require_status = (expression);                                                 \
        if (!require_status.ok()) {                                                         \
            std::printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #expression,                 \
                        require_status.ToString().c_str());                                 \
            std::exit(2);                                                                   \
        }                                                                                   \
    } while (0)

namespace harness {

/* A test would prove less than it says with fewer. */
inline void CheckKeys(const std::vector<std::string> &keys)
{
    size_t paths = static_cast<size_t>(std::count_if(keys.begin(), keys.end(), IsPath));
    CHECK(paths >= kPaths);
    CHECK(keys.size() - paths >= kRandomKeys);
    CHECK(std::adjacent_find(keys.begin(), keys.end()) == keys.end());
}

}  // namespace harness

#endif
