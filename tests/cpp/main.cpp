#define DOCTEST_CONFIG_IMPLEMENT
#include <cstdlib>

#include <doctest/doctest.h>

int main(int count, char** values) {
  // Plans made by tests check the graph after every pass.
  setenv("GRAPHWRIGHT_VERIFY_PASSES", "1", 0);
  return doctest::Context(count, values).run();
}
