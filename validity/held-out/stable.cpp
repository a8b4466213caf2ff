#include <algorithm>
#include <cstdio>
#include <vector>
/* Sorting stably takes a buffer of half the size each time. */
int main()
{
    std::vector<unsigned> numbers(3'000'000);
    unsigned sum = 0;
    for (unsigned round = 1; round < 7; round++) {
        unsigned at = round;
        for (unsigned &number : numbers)
            number = (at += 5) / 64;
        std::vector<unsigned> sorted(numbers);
        std::stable_sort(sorted.begin(), sorted.end());
        sum += sorted[round * 1000];
    }
    printf("%u\n", sum);
}
