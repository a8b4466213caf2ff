// The pairs for Google Benchmark; the pair is named by WORK_PAIR.
#include "work.h"
#include <benchmark/benchmark.h>
#include <cstdlib>

static void a(benchmark::State &state)
{
    int pair = std::atoi(std::getenv("WORK_PAIR"));
    for (auto _ : state)
        benchmark::DoNotOptimize(work(pair, 0));
}

static void b(benchmark::State &state)
{
    int pair = std::atoi(std::getenv("WORK_PAIR"));
    for (auto _ : state)
        benchmark::DoNotOptimize(work(pair, 1));
}

BENCHMARK(a)->UseRealTime();
BENCHMARK(b)->UseRealTime();
BENCHMARK_MAIN();
