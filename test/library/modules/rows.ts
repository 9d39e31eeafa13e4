/** More rows than fit into a message. */
export default function rows({ count }: { count: number }): { index: number; text: string }[] {
  return Array.from({ length: count }, (_, index) => ({ index, text: 'x'.repeat(100) }));
}
