/** The microphone as pieces of 16,000 samples a second, in a file that the server reads without the help of ffmpeg. */

const RATE = 16_000;
const HEAD_BYTES = 44;
const FULL_SCALE = 32_767;
const LEVEL_SAMPLES = 2_048;

export class Microphone {
  readonly #stream: MediaStream;
  readonly #context: AudioContext;
  readonly #analyser: AnalyserNode;
  readonly #samples = new Float32Array(LEVEL_SAMPLES);
  #recorder: MediaRecorder;

  /** Asks for the microphone. Throws a DOMException: NotAllowedError, or NotFoundError where there is none. */
  static async open(): Promise<Microphone> {
    const audio = { channelCount: 1, echoCancellation: true, noiseSuppression: true };
    return new Microphone(await navigator.mediaDevices.getUserMedia({ audio }));
  }

  private constructor(stream: MediaStream) {
    this.#stream = stream;
    this.#context = new AudioContext();
    this.#analyser = this.#context.createAnalyser();
    this.#analyser.fftSize = LEVEL_SAMPLES;
    this.#context.createMediaStreamSource(stream).connect(this.#analyser);
    this.#recorder = this.#record();
  }

  /** The level of the last moment, from 0 to 1. */
  level(): number {
    this.#analyser.getFloatTimeDomainData(this.#samples);
    return Math.sqrt(this.#samples.reduce((sum, each) => sum + each * each, 0) / LEVEL_SAMPLES);
  }

  /** Ends a piece, and begins the next one before, so that no word is lost between the two. */
  async cut(): Promise<Blob> {
    const ended = this.#recorder;
    this.#recorder = this.#record();
    return await this.#wavOf(await stopped(ended));
  }

  /** Gives the microphone back; answers the last piece. */
  async close(): Promise<Blob> {
    try {
      const recording = await stopped(this.#recorder);
      for (const track of this.#stream.getTracks()) track.stop();
      return await this.#wavOf(recording);
    } finally {
      await this.#context.close();
    }
  }

  #record(): MediaRecorder {
    const recorder = new MediaRecorder(this.#stream);
    recorder.start();
    return recorder;
  }

  async #wavOf(recording: Blob): Promise<Blob> {
    if (recording.size === 0) return wavOf(new Float32Array());
    const sound = await this.#context.decodeAudioData(await recording.arrayBuffer());
    const target = new OfflineAudioContext(1, Math.max(1, Math.ceil(sound.duration * RATE)), RATE);
    const source = target.createBufferSource();
    source.buffer = sound;
    source.connect(target.destination);
    source.start();
    return wavOf((await target.startRendering()).getChannelData(0));
  }
}

function stopped(recorder: MediaRecorder): Promise<Blob> {
  // A microphone that is gone has ended its recording already.
  if (recorder.state === 'inactive') return Promise.resolve(new Blob());
  return new Promise((resolve) => {
    const parts: Blob[] = [];
    recorder.addEventListener('dataavailable', ({ data }) => parts.push(data));
    recorder.addEventListener('stop', () => resolve(new Blob(parts)));
    recorder.stop();
  });
}

/** WAVE: RIFF with one channel of 16 bits, whose bytes come in the order that all machines with browsers have. */
function wavOf(samples: Float32Array): Blob {
  const data = Int16Array.from(samples, (each) => Math.max(-1, Math.min(1, each)) * FULL_SCALE);
  const format = new DataView(new ArrayBuffer(20));
  format.setUint32(0, 16, true);
  format.setUint16(4, 1, true);
  format.setUint16(6, 1, true);
  format.setUint32(8, RATE, true);
  format.setUint32(12, RATE * 2, true);
  format.setUint16(16, 2, true);
  format.setUint16(18, 16, true);
  const sizes = Uint32Array.of(HEAD_BYTES - 8 + data.byteLength, data.byteLength);
  const parts = ['RIFF', sizes.slice(0, 1), 'WAVEfmt ', format, 'data', sizes.slice(1), data];
  return new Blob(parts, { type: 'audio/wav' });
}
