// The smallest program that uses the C++ library.
#include <iostream>

#include <graphwright/graphwright.h>

int main() {
  gw::Tensor x = gw::constant({{1.0f, 2.0f}, {3.0f, 4.0f}});
  std::cout << "graphwright " << graphwright::version() << "\n"
            << gw::matmul(x, x) + 1 << "\n"
            << gw::reduce_mean(x, {.axis = 0}) << "\n";
  return 0;
}
