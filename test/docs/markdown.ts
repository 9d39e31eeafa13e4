/** The project's own documents, and as much of Markdown as they use: headings, tables, fenced blocks, links. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Paths from the root, with `/`. */
export const DOCUMENTS: readonly string[] = [
  'README.md',
  'CHANGELOG.md',
  ...globSync('docs/*.md', { cwd: ROOT }).sort(),
];

export function readDocument(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

export interface FencedBlock {
  readonly language: string;
  readonly text: string;
}

export function fencedBlocks(text: string): FencedBlock[] {
  return [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, language, body]) => ({
    language: language!,
    text: body!,
  }));
}

/** What is outside of fenced blocks. */
export function prose(text: string): string {
  return text.replace(/^```[\s\S]*?^```$/gm, '');
}

/** Texts between single backticks, outside of fenced blocks. */
export function codeSpans(text: string): string[] {
  return [...prose(text).matchAll(/`([^`\n]+)`/g)].map((match) => match[1]!);
}

/** Heading → what stands below it up to the next heading of any level. */
export function sections(text: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const parts = text.split(/^#{1,6} +(.*)$/m);
  for (let at = 1; at < parts.length; at += 2) found.set(plain(parts[at]!), parts[at + 1]!);
  return found;
}

/** The cells of all rows of all tables, heads included; `\|` is a plain character. */
export function tableRows(text: string): string[][] {
  const rows: string[][] = [];
  for (const line of prose(text).split('\n')) {
    if (!line.startsWith('|') || /^\|[-:|\s]+\|$/.test(line)) continue;
    rows.push(
      line
        .slice(1, -1)
        .split(/(?<!\\)\|/)
        .map((cell) => cell.trim().replaceAll('\\|', '|')),
    );
  }
  return rows;
}

/** Rows of the tables below one heading, without their heads. */
export function rowsBelow(text: string, heading: string): string[][] {
  const section = sections(text).get(heading);
  if (section === undefined) throw new Error(`expected a heading "${heading}", got none`);
  return tableRows(section).slice(1);
}

/** Without backticks. */
export function plain(cell: string): string {
  return cell.replaceAll('`', '').trim();
}

/** Anchors of the headings as common renderers make them. */
export function anchors(text: string): ReadonlySet<string> {
  const found = new Set<string>();
  for (const [, heading] of prose(text).matchAll(/^#{1,6} +(.*)$/gm)) {
    const words = heading!.toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, '');
    found.add(words.trim().replaceAll(' ', '-'));
  }
  return found;
}
