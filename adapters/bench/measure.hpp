/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * measure.hpp - how engines.cc measures: by the CPU time of the thread, an engine's own filters, ours,
 * and the engine's own once more, in turn. The third is the control: how far from 1.00 it is is how
 * far any ratio may be off. Uses POSIX.
 */
#ifndef BLOOMLINE_MEASURE_HPP
#define BLOOMLINE_MEASURE_HPP

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include <time.h>

namespace measure {

/* Which of the three. */
enum { kTheirs, kOurs, kControl, kThree };

constexpr int kRounds = 21;

/* Not what the clock on the wall says: that counts what else the machine does. */
inline double Seconds(const std::function<void()> &run)
{
    auto now = [] {
        timespec time;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
        return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
    };
    const double start = now();
    run();
    return now() - start;
}

inline double Median(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

inline void Head()
{
    std::printf("| what (ns per key) | engine's own | bloomline | faster | control |\n|---|---:|---:|---:|---:|\n");
}

/* A row of the table: medians of the rounds, and of each round's ratios. `seconds[kOurs][r]` is what
 * ours took in round `r` for `operations` keys. */
inline void Print(const std::string &name, double operations, const std::vector<double> (&seconds)[kThree])
{
    std::vector<double> faster, control;
    for (size_t round = 0; round < seconds[kTheirs].size(); round++) {
        faster.push_back((seconds[kTheirs][round] + seconds[kControl][round]) / 2 / seconds[kOurs][round]);
        control.push_back(seconds[kTheirs][round] / seconds[kControl][round]);
    }
    std::printf("| %s | %.1f | %.1f | %.2f | %.2f |\n", name.c_str(),
                1e9 * Median(seconds[kTheirs]) / operations, 1e9 * Median(seconds[kOurs]) / operations,
                Median(faster), Median(control));
}

/* Calls `once(which)`, which returns seconds, for each of the three in each round, in changing order;
 * the first `warm_up` rounds are not counted. */
inline void Rounds(const std::string &name, double operations, int warm_up, int rounds,
                   const std::function<double(int)> &once)
{
    std::vector<double> seconds[kThree];
    for (int round = -warm_up; round < rounds; round++)
        for (int turn = 0; turn < kThree; turn++) {
            const int which = (turn + round + warm_up) % kThree;
            const double taken = once(which);
            if (round >= 0)
                seconds[which].push_back(taken);
        }
    Print(name, operations, seconds);
}

inline void Row(const std::string &name, double operations, const std::function<void()> (&run)[kThree],
                int rounds = kRounds)
{
    /* Two to warm up, since a database is opened twice. */
    Rounds(name, operations, 2, rounds, [&run](int which) { return Seconds(run[which]); });
}

}  // namespace measure

#endif
