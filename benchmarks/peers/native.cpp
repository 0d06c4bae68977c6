// C++ as a peer: inline loops, oneTBB and Taskflow where their headers are.  Speaks the protocol of child.py.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#if __has_include(<tbb/task_group.h>)
#define HAS_TBB 1
#include <tbb/flow_graph.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_invoke.h>
#include <tbb/task_group.h>
#endif
#if __has_include(<taskflow/taskflow.hpp>)
#define HAS_TASKFLOW 1
#include <taskflow/taskflow.hpp>
#endif

using Run = std::function<void()>;

struct Work {
  std::string kind, name;
  long operations;
  int cores;
  bool equal;
  std::function<Run()> make;
};

static volatile long sink;

static long fib(long n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

// The loop must stay: each step depends on the one before, and the compiler may not know the addend.
static long chain(long length) {
  volatile long one = 1;
  long step = one, value = 0;
  for (long i = 0; i < length; ++i) {
    value += step;
    asm volatile("" : "+r"(value));
  }
  return value;
}

static void polynomial(double* out, long first, long last) {
  for (long i = first; i < last; ++i) {
    double value = double(i);
    for (int j = 0; j < 100; ++j) value = value * 0.999 + 0.001;
    out[i] = value;
  }
}

static long fib_calls(long n) { return n < 2 ? 1 : 1 + fib_calls(n - 1) + fib_calls(n - 2); }

#ifdef HAS_TBB
static long tbb_fib(long n) {
  if (n < 2) return n;
  long left, right;
  tbb::task_group group;
  group.run([&] { left = tbb_fib(n - 1); });
  group.run([&] { right = tbb_fib(n - 2); });
  group.wait();
  return left + right;
}

template <typename Body>
static Run in_arena(int threads, Body body) {
  auto arena = std::make_shared<tbb::task_arena>(threads);
  return [=] { arena->execute(body); };
}

static Run tbb_graph(int threads, const std::vector<std::pair<int, int>>& inputs) {
  using Node = tbb::flow::continue_node<tbb::flow::continue_msg>;
  struct Graph {
    tbb::flow::graph graph;
    tbb::flow::broadcast_node<tbb::flow::continue_msg> start{graph};
    std::vector<long> values;
    std::vector<std::unique_ptr<Node>> nodes;
  };
  auto arena = std::make_shared<tbb::task_arena>(threads);
  std::shared_ptr<Graph> made;
  arena->execute([&] { made = std::make_shared<Graph>(); });
  made->values.resize(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    auto [a, b] = inputs[i];
    Graph* g = made.get();
    made->nodes.push_back(std::make_unique<Node>(made->graph, [=](tbb::flow::continue_msg) {
      g->values[i] = (a < 0 ? 0 : g->values[a]) + (b < 0 ? 1 : g->values[b]);
    }));
    if (a < 0) tbb::flow::make_edge(made->start, *made->nodes[i]);
    if (a >= 0) tbb::flow::make_edge(*made->nodes[a], *made->nodes[i]);
    if (b >= 0) tbb::flow::make_edge(*made->nodes[b], *made->nodes[i]);
  }
  return [=] {
    arena->execute([&] {
      made->start.try_put({});
      made->graph.wait_for_all();
    });
  };
}
#endif

#ifdef HAS_TASKFLOW
static Run taskflow_graph(int threads, const std::vector<std::pair<int, int>>& inputs) {
  struct Graph {
    tf::Executor executor;
    tf::Taskflow flow;
    std::vector<long> values;
    Graph(int threads) : executor(threads) {}
  };
  auto made = std::make_shared<Graph>(threads);
  made->values.resize(inputs.size());
  std::vector<tf::Task> tasks;
  for (size_t i = 0; i < inputs.size(); ++i) {
    auto [a, b] = inputs[i];
    Graph* g = made.get();
    tasks.push_back(made->flow.emplace([=] {
      g->values[i] = (a < 0 ? 0 : g->values[a]) + (b < 0 ? 1 : g->values[b]);
    }));
    if (a >= 0) tasks[a].precede(tasks[i]);
    if (b >= 0) tasks[b].precede(tasks[i]);
  }
  return [=] { made->executor.run(made->flow).wait(); };
}
#endif

static std::vector<std::pair<int, int>> chain_inputs(int length) {
  std::vector<std::pair<int, int>> inputs;
  for (int i = 0; i < length; ++i) inputs.push_back({i - 1, -1});
  return inputs;
}

static std::vector<std::pair<int, int>> tree_inputs(int size) {
  std::vector<std::pair<int, int>> inputs(size, {-1, -1});
  std::vector<int> level(size);
  for (int i = 0; i < size; ++i) level[i] = i;
  while (level.size() > 1) {
    std::vector<int> next;
    for (size_t i = 0; i + 1 < level.size(); i += 2) {
      next.push_back(inputs.size());
      inputs.push_back({level[i], level[i + 1]});
    }
    if (level.size() % 2) next.push_back(level.back());
    level = next;
  }
  return inputs;
}

static std::vector<Work> works() {
  std::vector<Work> all;
  auto add = [&](std::string kind, std::string name, long operations, int cores, bool equal,
                 std::function<Run()> make) {
    all.push_back({kind, name, operations, cores, equal, make});
  };
  add("sync_chain", "inline", 1000000, 1, false, [] { return [] { sink = chain(1000000); }; });
  add("loop", "inline", 1000000, 1, false, [] { return [] { sink = chain(1000000); }; });
  add("sync_fib", "inline", fib_calls(20), 1, true, [] { return [] { sink = fib(20); }; });
  for (int cores = 1; cores <= 2; ++cores) {
    std::string threads = std::to_string(cores) + (cores == 1 ? " thread" : " threads");
    add("parallel", "std::thread, " + threads, 1, cores, true, [=]() -> Run {
      auto out = std::make_shared<std::vector<double>>(65536);
      return [=] {
        std::vector<std::thread> others;
        for (int t = 1; t < cores; ++t)
          others.emplace_back([=] { polynomial(out->data(), t * 65536L / cores, (t + 1) * 65536L / cores); });
        polynomial(out->data(), 0, 65536 / cores);
        for (auto& other : others) other.join();
      };
    });
#ifdef HAS_TBB
    auto tbb = "oneTBB, " + threads;
    add("fib_tasks", tbb, fib_calls(20), cores, true,
        [=] { return in_arena(cores, [] { sink = tbb_fib(20); }); });
    add("fib", tbb, fib_calls(20), cores, true,
        [=] { return in_arena(cores, [] { sink = tbb_fib(20); }); });
    for (long count : {1000L, 10000L, 100000L})
      add("tasks_" + std::to_string(count), tbb, count, cores, true, [=]() -> Run {
        auto values = std::make_shared<std::vector<long>>(count);
        return in_arena(cores, [=] {
          tbb::task_group group;
          long* out = values->data();
          for (long i = 0; i < count; ++i) group.run([=] { out[i] = i + 1; });
          group.wait();
          long sum = 0;
          for (long i = 0; i < count; ++i) sum += out[i];
          sink = sum;
        });
      });
    add("group", tbb, 10000, cores, true, [=] {
      return in_arena(cores, [] {
        tbb::task_group group;
        for (int i = 0; i < 10000; ++i) group.run([] {});
        group.wait();
      });
    });
    for (int size : {1000, 10000}) {
      auto n = std::to_string(size);
      add("chain_" + n, tbb, size, cores, true, [=] { return tbb_graph(cores, chain_inputs(size)); });
      add("tree_" + n, tbb, 2 * size - 1, cores, true,
          [=] { return tbb_graph(cores, tree_inputs(size)); });
    }
#endif
#ifdef HAS_TASKFLOW
    auto taskflow = "Taskflow, " + threads;
    for (int size : {1000, 10000}) {
      auto n = std::to_string(size);
      add("chain_" + n, taskflow, size, cores, true,
          [=] { return taskflow_graph(cores, chain_inputs(size)); });
      add("tree_" + n, taskflow, 2 * size - 1, cores, true,
          [=] { return taskflow_graph(cores, tree_inputs(size)); });
    }
#endif
  }
  return all;
}

static double now() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

static double processor() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

static long calls_per_sample(const Run& run) {
  double end = now() + 0.1, least = 1e9;
  do {
    double started = now();
    run();
    least = std::min(least, now() - started);
  } while (now() < end);
  return std::max(1L, long(0.02 / std::max(least, 1e-7)));
}

// As counted.py: two forks run a work few and many times, and valgrind counts in each.
static void count(const Work& work, char** times) {
  std::cout << work.kind << std::flush;  // a fork must not have it to write, too
  for (int i = 0; i < 2; ++i) {
    pid_t process = fork();
    if (process == 0) {
      Run run = work.make();
      for (long left = std::stol(times[i]); left > 0; --left) run();
      _exit(0);
    }
    waitpid(process, nullptr, 0);
    std::cout << '\t' << process << std::flush;
  }
  std::cout << std::endl;
}

// Without arguments, answers the driver; with FEW MANY CASE..., runs works of one processor for counts.py.
int main(int argc, char** argv) {
  auto all = works();
  for (int i = 3; i < argc; ++i)
    for (auto& work : all)
      if (work.kind == argv[i] && work.name == "oneTBB, 1 thread") count(work, argv + 1);
  if (argc > 1) return 0;
  std::map<std::string, std::pair<Run, long>> running;  // by the fields that name a work
  std::string line;
  while (std::getline(std::cin, line)) {
    std::istringstream fields(line);
    std::string command, kind, name;
    std::getline(fields, command, '\t');
    std::getline(fields, kind, '\t');
    std::getline(fields, name, '\t');
    if (command == "works") {
      for (auto& work : all)
        std::cout << work.kind << '\t' << work.name << '\t' << work.operations << '\t' << work.cores
                  << '\t' << work.equal << '\n';
      std::cout << '.' << std::endl;
    } else if (command == "start") {
      auto& [run, calls] = running[kind + '\t' + name];
      for (auto& work : all)
        if (work.kind == kind && work.name == name) run = work.make();
      calls = calls_per_sample(run);
      std::cout << "ready\t" << calls << std::endl;
    } else if (command == "sample") {
      auto& [run, calls] = running[kind + '\t' + name];
      double used = processor(), started = now();
      for (long i = 0; i < calls; ++i) run();
      double elapsed = now() - started;
      std::cout << elapsed << '\t' << processor() - used << std::endl;
    } else if (command == "stop") {
      running.clear();
      std::cout << "stopped" << std::endl;
    }
  }
}
