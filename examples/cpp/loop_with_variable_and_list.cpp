// Traces a C++ lambda with a loop, a variable and a list, runs it, and shows the graph.
//
// The function follows the logistic map x -> rate * x * (1 - x) for a number of steps that is known
// only when it runs, keeps every x in a list, and counts all steps ever taken in a variable.
#include <iostream>
#include <tuple>

#include <graphwright/graphwright.h>

int main() {
  try {
    gw::Variable steps_taken(0, {.name = "steps_taken"});

    auto orbit = gw::trace(
        [&](gw::Tensor start, gw::Tensor rate, gw::Tensor steps) {
          gw::List visited(gw::float32, {}, 0);
          auto [i, x, all] =
              gw::while_loop([&](gw::Tensor i, gw::Tensor, gw::List) { return i < steps; },
                             [&](gw::Tensor i, gw::Tensor x, gw::List visited) {
                               steps_taken.assign_add(1);
                               gw::Tensor next = rate * x * (1 - x);
                               return std::tuple(i + 1, next, visited.push_back(next));
                             },
                             0, start, visited);
          return std::tuple(x, all.stack());
        },
        gw::TensorSpec({}, gw::float32, "start"), gw::TensorSpec({}, gw::float32, "rate"),
        gw::TensorSpec({}, gw::int32, "steps"));

    auto [last, path] = orbit(0.5, 3.2, 6);
    std::cout << "path: " << path << "\nlast: " << last.item<float>() << "\n";
    orbit(0.25, 2.5, 1000);
    std::cout << "steps taken: " << steps_taken.read().item<int>() << "\n";

    // The derivative of the last x with respect to the rate, through the loop.
    gw::Tensor rate = gw::constant(3.2f);
    gw::GradientTape tape;
    tape.watch(rate);
    gw::Tensor end = std::get<0>(orbit(0.5, rate, 6));
    std::cout << "d last / d rate: " << tape.gradient(end, rate).item<float>() << "\n\n";

    std::cout << orbit.to_text();
    std::cout << "\nGraphDef: " << orbit.graph_def().size() << " bytes\n";

    // Errors say what was wrong, and in which line of this file.
    try {
      orbit(gw::constant({1.0f, 2.0f}), 3.2, 6);
    } catch (const gw::Error& error) {
      std::cout << "\nrefused: " << error.what() << "\n";
    }
    return 0;
  } catch (const gw::Error& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
