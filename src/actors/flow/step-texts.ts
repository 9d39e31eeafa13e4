/** Texts that the runs of a step share: each is asked for once, and let go when the step is over. */

interface Reading {
  readonly asked: Promise<string | null>;
  /** Null: it is on its way. */
  text: string | null;
}

export class StepTexts {
  readonly #byStep = new Map<number, Map<string, Reading>>();
  readonly #onChange: () => void;

  /** `onChange`: more, or less, is held. */
  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  /** What could not be read, or was not there, is asked for again. */
  read(step: number, what: string, ask: () => Promise<string | null>): Promise<string | null> {
    let readings = this.#byStep.get(step);
    if (readings === undefined) {
      readings = new Map();
      this.#byStep.set(step, readings);
    }
    const before = readings.get(what);
    if (before !== undefined) return before.asked;
    const reading: Reading = { asked: ask(), text: null };
    readings.set(what, reading);
    reading.asked.then(
      (text) => {
        reading.text = text;
        if (text === null) readings.delete(what);
        else if (this.#byStep.get(step) === readings) this.#onChange();
      },
      () => readings.delete(what),
    );
    return reading.asked;
  }

  end(step: number): void {
    if (this.#byStep.delete(step)) this.#onChange();
  }

  *held(): Iterable<string> {
    for (const readings of this.#byStep.values()) {
      for (const { text } of readings.values()) if (text !== null) yield text;
    }
  }
}
