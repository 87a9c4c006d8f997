// Text goldens of the passes: tests/passes/*.txt hold graphs before and after passes.
//
//   === what the case shows
//   passes: cse,prune
//   graph "f" ...
//   --- after
//   graph "f" ...
//
// A case may hold several graphs; the last one is changed and compared. With
// GRAPHWRIGHT_UPDATE_GOLDENS=1 the files are written anew with what comes out.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include <doctest/doctest.h>

#include "base/status.h"
#include "ir/graph_copy.h"
#include "ir/text.h"
#include "passes/pass.h"
#include "runtime/eager.h"

namespace graphwright {
namespace {

struct GoldenCase {
  std::string title, passes, before, after;
};

constexpr std::string_view kTitle = "=== ";
constexpr std::string_view kPasses = "passes: ";
constexpr std::string_view kAfter = "--- after";

struct GoldenFile {
  std::string comment;
  std::vector<GoldenCase> cases;
};

GoldenFile read_file(const std::filesystem::path& path) {
  GoldenFile file;
  std::ifstream stream(path);
  bool after = false;
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with(kTitle)) {
      file.cases.push_back({line.substr(kTitle.size()), "", "", ""});
      after = false;
    } else if (file.cases.empty()) {
      file.comment += line + "\n";
    } else if (line.starts_with(kPasses)) {
      file.cases.back().passes = line.substr(kPasses.size());
    } else if (line == kAfter) {
      after = true;
    } else {
      (after ? file.cases.back().after : file.cases.back().before) += line + "\n";
    }
  }
  return file;
}

void write_file(const std::filesystem::path& path, const GoldenFile& file) {
  std::ofstream stream(path);
  stream << file.comment;
  for (const GoldenCase& one : file.cases) {
    stream << kTitle << one.title << "\n"
           << kPasses << one.passes << "\n"
           << one.before << kAfter << "\n"
           << one.after;
  }
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

// The lines that differ, between those that do not: "- wanted", "+ given".
std::string difference(const std::string& wanted_text, const std::string& given_text) {
  std::vector<std::string> wanted = lines_of(wanted_text), given = lines_of(given_text);
  std::vector<std::vector<size_t>> common(wanted.size() + 1, std::vector<size_t>(given.size() + 1));
  for (size_t i = wanted.size(); i-- > 0;) {
    for (size_t j = given.size(); j-- > 0;) {
      common[i][j] = wanted[i] == given[j] ? common[i + 1][j + 1] + 1
                                           : std::max(common[i + 1][j], common[i][j + 1]);
    }
  }
  std::string text;
  size_t i = 0, j = 0;
  while (i < wanted.size() || j < given.size()) {
    if (i < wanted.size() && j < given.size() && wanted[i] == given[j]) {
      text += "  " + wanted[i++] + "\n";
      ++j;
    } else if (j < given.size() && (i == wanted.size() || common[i][j + 1] >= common[i + 1][j])) {
      text += "+ " + given[j++] + "\n";
    } else {
      text += "- " + wanted[i++] + "\n";
    }
  }
  return text;
}

std::string run_case(const std::string& source, const GoldenCase& one) {
  std::string text = "graphwright-ir " + std::to_string(kTextVersion) + "\n" + one.before;
  std::shared_ptr<Graph> graph = copy_graph(*parse_module(text, source).back());
  passes::PassContext context;
  context.evaluator = &eager_builder();
  passes::run_passes(*graph, passes::parse_pipeline(one.passes), context, true);
  return graph_to_text(*graph, {.captures = true, .version = false});
}

}  // namespace

TEST_CASE("passes change texts as the goldens say") {
  const std::filesystem::path folder(GW_PASS_GOLDENS);
  const char* update = std::getenv("GRAPHWRIGHT_UPDATE_GOLDENS");
  int cases = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".txt") continue;
    GoldenFile file = read_file(entry.path());
    for (GoldenCase& one : file.cases) {
      ++cases;
      const std::string name = entry.path().filename().string() + ", " + one.title;
      CAPTURE(name);
      std::string after;
      try {
        after = run_case(entry.path().filename().string(), one);
      } catch (const Error& error) {
        FAIL_CHECK(error.what());
        continue;
      }
      if (update && *update) {
        one.after = after;
      } else if (lines_of(after) != lines_of(one.after)) {
        FAIL_CHECK(difference(one.after, after));
      }
    }
    if (update && *update) write_file(entry.path(), file);
  }
  CHECK(cases > 0);
}

TEST_CASE("pipelines are named") {
  CHECK(passes::parse_pipeline("").empty());
  CHECK(passes::parse_pipeline("cse,prune").size() == 2);
  CHECK(passes::parse_pipeline("all").size() == passes::all_passes().size());
  CHECK_THROWS_WITH(passes::parse_pipeline("cse,what"), "there is no pass 'what'");
}

}  // namespace graphwright
