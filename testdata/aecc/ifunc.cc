// Functions of C++ of which the program takes one of several versions, by what the processor has
#include <cstdio>
__attribute__((target("default"))) int f(int x) { return x; }
__attribute__((target("sse4.2"))) int f(int x) { return x + 1; }
__attribute__((target("avx2"))) int f(int x) { return x + 2; }
struct S { int k; __attribute__((target_clones("avx2", "default"))) int m(int x) { return x * k; } };
template <typename T> __attribute__((noinline)) T tm(T x) { return f(x) + 1; }
inline __attribute__((target_clones("avx2", "default"))) int inl(int x) { return x * 7; }
int main() { S s{3}; int r = 0; for (int i = 0; i < 200; i++) r += f(i) + s.m(i) + tm(i) + inl(i); std::printf("%d\n", r); }
