// For changes that must not be left half done: while one of these lives, an allocation of the calling thread that finds no memory
// waits for some instead of throwing. What may be large or can be refused is not allocated under it.
#pragma once

#include <chrono>
#include <new>
#include <thread>

namespace svc {

class MemoryWait {
  public:
    MemoryWait() {
        static Handler installed;
        depth_++;
    }
    ~MemoryWait() { depth_--; }
    MemoryWait(const MemoryWait &) = delete;
    MemoryWait & operator=(const MemoryWait &) = delete;

  private:
    // C++ asks the process's handler before it throws. The one that was there before is asked for other threads.
    struct Handler {
        Handler() { before_ = std::set_new_handler(on_lack); }
        ~Handler() {
            if (std::get_new_handler() == on_lack) std::set_new_handler(before_);
        }
    };

    static void on_lack() {
        if (depth_ > 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
        else if (before_) before_();
        else throw std::bad_alloc();
    }

    static inline std::new_handler before_ = nullptr;
    static inline thread_local int depth_ = 0;
};

// Runs `work`, which waits for memory.
template <typename Work> auto with_memory(Work && work) {
    const MemoryWait wait;
    return work();
}

}  // namespace svc
