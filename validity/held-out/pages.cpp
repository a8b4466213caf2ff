#include <cstdio>
#include <string>
/* A page is put together and given back, as a server does for each answer. */
static std::string page(int rows)
{
    std::string text;
    for (int row = 0; row < rows; row++)
        text += "<tr><td>" + std::to_string(row) + "</td></tr>\n";
    return text;
}
int main()
{
    size_t total = 0;
    for (int round = 0; round < 16; round++)
        total += page(300'000 + round).size();
    printf("%zu\n", total);
}
