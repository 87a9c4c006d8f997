// The program `graphwright`: work on graphs in their text form.
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "ir/graph_copy.h"
#include "ir/text.h"
#include "passes/pass.h"
#include "runtime/eager.h"

namespace graphwright {
namespace {

// As the shell sees them.
constexpr int kOk = 0;
constexpr int kBadInput = 1;  // a text that cannot be read, a pass that broke a graph
constexpr int kBadUsage = 2;

constexpr const char* kUsage =
    "usage: graphwright opt FILE [--passes=NAME,NAME...] [--verify]\n"
    "       graphwright opt --list\n"
    "\n"
    "Reads graphs in text form from FILE (- for the standard input), runs passes over each and\n"
    "prints them. A file may hold several graphs; each may call those before it.\n"
    "\n"
    "  --passes=...  the passes to run, in this order; \"all\" (the default) stands for the\n"
    "                pipeline that plans are made with, \"\" for none\n"
    "  --verify      check the graph after every pass\n"
    "  --list        print the names of all passes and what they do\n"
    "\n"
    "Ends with 0, with 1 when a text is malformed or a pass breaks a graph, with 2 for a wrong\n"
    "command line. Messages go to the standard error as FILE:LINE: MESSAGE.\n";

int usage_error(const std::string& message) {
  std::cerr << "graphwright: " << message << "\n\n" << kUsage;
  return kBadUsage;
}

int list_passes() {
  for (const passes::Pass& pass : passes::all_passes()) {
    std::printf("%-12s%s\n", std::string(pass.name).c_str(), std::string(pass.doc).c_str());
  }
  return kOk;
}

bool read_all(const std::string& path, std::string& text) {
  if (path == "-") {
    text.assign(std::istreambuf_iterator<char>(std::cin), {});
    return true;
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) return false;
  text.assign(std::istreambuf_iterator<char>(file), {});
  return !file.bad();
}

int optimise_text(const std::string& path, std::string_view passes, bool verify) {
  std::vector<const passes::Pass*> pipeline;
  try {
    pipeline = passes::parse_pipeline(passes);
  } catch (const Error& error) {
    return usage_error(std::string(error.what()) + "; --list prints them");
  }
  std::string text;
  if (!read_all(path, text)) {
    std::cerr << "graphwright: cannot read " << path << "\n";
    return kBadInput;
  }
  try {
    passes::PassContext context;
    context.evaluator = &eager_builder();
    bool first = true;
    for (const auto& graph : parse_module(text, path == "-" ? "<stdin>" : path)) {
      std::shared_ptr<Graph> copy = copy_graph(*graph);
      passes::run_passes(*copy, pipeline, context, verify);
      std::cout << graph_to_text(*copy, {.captures = true, .version = first});
      first = false;
    }
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return kBadInput;
  }
  return kOk;
}

int run_opt(const std::vector<std::string_view>& arguments) {
  std::string path;
  std::string_view passes = "all";
  bool verify = false;
  for (std::string_view argument : arguments) {
    if (argument == "--list") return list_passes();
    if (argument == "--verify") {
      verify = true;
    } else if (argument.starts_with("--passes=")) {
      passes = argument.substr(9);
    } else if (argument.starts_with("-") && argument != "-") {
      return usage_error("opt has no option " + std::string(argument));
    } else if (!path.empty()) {
      return usage_error("opt takes one file");
    } else {
      path = argument;
    }
  }
  if (path.empty()) return usage_error("opt needs a file, or - for the standard input");
  return optimise_text(path, passes, verify);
}

int run(int count, char** values) {
  std::vector<std::string_view> arguments(values + 1, values + count);
  if (arguments.empty()) return usage_error("a command is missing");
  std::string_view command = arguments.front();
  arguments.erase(arguments.begin());
  if (command == "--help" || command == "help") {
    std::cout << kUsage;
    return kOk;
  }
  if (command == "opt") return run_opt(arguments);
  return usage_error("there is no command " + std::string(command));
}

}  // namespace
}  // namespace graphwright

int main(int count, char** values) { return graphwright::run(count, values); }
