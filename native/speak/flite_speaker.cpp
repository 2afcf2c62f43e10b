// Speaks a text with flite: `svc_flite VOICE SPEED < TEXT` writes the voice's rate as four little-endian bytes, then samples of
// 16 bits as they are made; `svc_flite --voices` writes the names of the voices whose libraries are there, a line each. The text
// is plain: flite knows no markup of its own. What goes wrong is a line on the standard error.
#include <dlfcn.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <iterator>
#include <stdexcept>
#include <string>

namespace {

// Parts of flite 2's structures, as its headers have them (cst_wave.h, cst_audio.h, cst_voice.h): they are the same in all
// of 2.x.
struct Wave {
    const char * type;
    int sample_rate;
    int num_samples;
    int num_channels;
    short * samples;
};

struct StreamingInfo {
    int min_buffsize;
    int (*asc)(const Wave * wave, int start, int size, int last, StreamingInfo * info);
    const void * utt;
    const void * item;
    void * userdata;
};

struct Voice {
    const char * name;
    void * features;
};

const char * const kVoices[] = {"slt", "rms", "awb", "kal16", "kal"};
constexpr int kStop = -1, kContinue = 0;
constexpr int kSamplesAtOnce = 2048;

std::string library_of(const std::string & voice) {
#ifdef __APPLE__
    return "libflite_cmu_us_" + voice + ".dylib";
#else
    return "libflite_cmu_us_" + voice + ".so.1";
#endif
}

void * open_library(const std::string & name) { return dlopen(name.c_str(), RTLD_NOW | RTLD_GLOBAL); }

template <typename Function> Function symbol(const char * name) {
    auto * found = dlsym(RTLD_DEFAULT, name);
    if (found == nullptr) throw std::runtime_error(std::string("flite has no ") + name);
    return reinterpret_cast<Function>(found);
}

// False: nobody reads any more.
bool write_all(const void * data, size_t size) {
    const auto * bytes = static_cast<const char *>(data);
    while (size > 0) {
        const auto written = write(STDOUT_FILENO, bytes, size);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        bytes += written;
        size -= static_cast<size_t>(written);
    }
    return true;
}

bool write_rate(int rate) {
    const auto value = static_cast<uint32_t>(rate);
    const uint8_t bytes[4] = {static_cast<uint8_t>(value), static_cast<uint8_t>(value >> 8), static_cast<uint8_t>(value >> 16),
                              static_cast<uint8_t>(value >> 24)};
    return write_all(bytes, sizeof bytes);
}

// Called by flite with each part of the wave as it is made.
int take(const Wave * wave, int start, int size, int /*last*/, StreamingInfo * info) {
    auto & is_begun = *static_cast<bool *>(info->userdata);
    if (!is_begun && !write_rate(wave->sample_rate)) return kStop;
    is_begun = true;
    return write_all(wave->samples + start, static_cast<size_t>(size) * sizeof(short)) ? kContinue : kStop;
}

int list_voices() {
    for (const auto * voice : kVoices)
        if (open_library(library_of(voice)) != nullptr) std::cout << voice << '\n';
    return 0;
}

bool is_known(const std::string & name) {
    for (const auto * voice : kVoices)
        if (name == voice) return true;
    return false;
}

int speak(const std::string & name, float speed, const std::string & text) {
    if (!is_known(name)) throw std::runtime_error("there is no voice " + name);
    if (open_library(library_of(name)) == nullptr) throw std::runtime_error(dlerror());
    symbol<int (*)()>("flite_init")();
    auto * voice = symbol<Voice * (*)(const char *)>(("register_cmu_us_" + name).c_str())(nullptr);
    if (voice == nullptr) throw std::runtime_error("the voice cannot be made");
    bool is_begun = false;
    auto * info = symbol<StreamingInfo * (*)()>("new_audio_streaming_info")();
    info->min_buffsize = kSamplesAtOnce;
    info->asc = take;
    info->userdata = &is_begun;
    symbol<void (*)(void *, const char *, float)>("feat_set_float")(voice->features, "duration_stretch", 1 / speed);
    auto * value = symbol<void * (*)(const StreamingInfo *)>("audio_streaming_info_val")(info);
    symbol<void (*)(void *, const char *, void *)>("feat_set")(voice->features, "streaming_info", value);
    symbol<float (*)(const char *, Voice *, const char *)>("flite_text_to_speech")(text.c_str(), voice, "stream");
    // The structures end with the process.
    return 0;
}

}  // namespace

int main(int argc, char ** argv) {
    try {
        if (argc == 2 && std::strcmp(argv[1], "--voices") == 0) return list_voices();
        if (argc != 3) throw std::runtime_error("usage: svc_flite VOICE SPEED < TEXT");
        const auto speed = std::strtof(argv[2], nullptr);
        if (!(speed >= 0.1F && speed <= 10.0F)) throw std::runtime_error("the speed is out of range");
        const std::string text(std::istreambuf_iterator<char>(std::cin), {});
        return speak(argv[1], speed, text);
    } catch (const std::exception & error) {
        std::cerr << "svc_flite: " << error.what() << '\n';
        return 1;
    }
}
