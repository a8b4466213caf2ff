// An ordered map of strings, and a deque that is filled and emptied.
#include <cstdio>
#include <deque>
#include <map>
#include <string>
int main()
{
    std::map<std::string, int> counts;
    for (int i = 0; i < 400000; i++)
        counts["key number " + std::to_string(i * 7919L % 200003)]++;
    std::deque<long> queue;
    long sum = 0;
    for (int round = 0; round < 8; round++) {
        for (long i = 0; i < 2000000; i++)
            queue.push_back(i);
        while (!queue.empty()) {
            sum += queue.front();
            queue.pop_front();
        }
    }
    std::printf("%zu %ld\n", counts.size(), sum);
}
