/** Prints, as modules do that were written for a terminal. */
export default function printer(input: { lines?: number }): void {
  for (let line = 0; line < (input.lines ?? 1); line++) console.log(`printed line ${line}`);
  console.error('printed to the standard error');
}
