// g++ -O2 -shared -fPIC -o libmine.so mine.cpp && pagewise bench ./libmine.so:push_back,reserve
#include <cstdint>
#include <vector>

static constexpr uint64_t elements = 100000;

extern "C" {

void *push_back_setup() { return new std::vector<uint64_t>; }

void push_back(void *context)
{
    auto &all = *static_cast<std::vector<uint64_t> *>(context);
    for (uint64_t i = 0; i < elements; i++)
        all.push_back(i);
}

uint64_t push_back_result(void *context) { return static_cast<std::vector<uint64_t> *>(context)->back(); }
void push_back_teardown(void *context) { delete static_cast<std::vector<uint64_t> *>(context); }

void *reserve_setup() { return push_back_setup(); }

void reserve(void *context)
{
    static_cast<std::vector<uint64_t> *>(context)->reserve(elements);
    push_back(context);
}

uint64_t reserve_result(void *context) { return push_back_result(context); }
void reserve_teardown(void *context) { push_back_teardown(context); }
}
