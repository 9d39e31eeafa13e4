/** Why what had succeeded is done once more. `results`: how many of a step, one or more. */
export function forgottenText(results: number): string {
  const what = results === 1 ? 'a result was forgotten and is' : `${results} results were forgotten and are`;
  return `${what} made anew`;
}
