// The smallest program that uses the C++ library.
#include <iostream>

#include <graphwright/version.h>

int main() {
  std::cout << "graphwright " << graphwright::version() << "\n";
  return 0;
}
