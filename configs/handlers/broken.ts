/** Always fails: shows how a run ends among the dead letters. */
export default function broken(): never {
  throw new Error('this task always fails, to show what the dead letters are');
}
