#include <algorithm>
#include <string>

#include <doctest/doctest.h>
#include <graphwright/version.h>

TEST_CASE("the version has three numbers") {
  std::string version = graphwright::version();
  CHECK(std::count(version.begin(), version.end(), '.') == 2);
}
