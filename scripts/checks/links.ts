/**
 * Checks the Markdown pages' links to files and headings, and the decisions that pages and code name (`ADR <number>`).
 * No catch is on record; it costs less than a CPU second.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

const pages = tracked('*.md')
const decisions = pages.filter((page) => page.startsWith('docs/adr/')).map((page) => Number(page.slice(9, 13)))
const problems: string[] = []
let count = 0
for (const page of pages) {
  const text = proseOf(page)
  for (const [, target = ''] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
    count += 1
    if (!/^[a-z]+:/.test(target) && !leadsSomewhere(page, target)) problems.push(`${page}: ${target}`)
  }
}
for (const file of [...pages, ...tracked('*.ts', '*.tsx', '*.mjs', '*.cjs', '*.sql')]) {
  for (const [, first = '', second] of readFileSync(file, 'utf8').matchAll(/\bADR (\d+)(?:(?:,| and| to) (\d+))?/g)) {
    for (const number of second === undefined ? [first] : [first, second]) {
      if (!decisions.includes(Number(number))) problems.push(`${file}: ADR ${number}`)
    }
  }
}

for (const problem of problems) console.error(`${problem} leads nowhere`)
console.log(`links: ${pages.length} pages, ${count} links, ${problems.length} problems`)
process.exitCode = problems.length === 0 ? 0 : 1

/** Without the files that the work tree has deleted. */
function tracked(...patterns: string[]): string[] {
  const listed = execFileSync('git', ['ls-files', ...patterns], { encoding: 'utf8' })
    .trim()
    .split('\n')
  return listed.filter(existsSync)
}

function leadsSomewhere(page: string, target: string): boolean {
  const [path = '', heading] = target.split('#')
  const file = path === '' ? page : normalize(join(dirname(page), path))
  return existsSync(file) && (heading === undefined || headingsOf(file).includes(heading))
}

function headingsOf(file: string): string[] {
  return [...proseOf(file).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  )
}

function proseOf(file: string): string {
  return readFileSync(file, 'utf8').replace(/^```.*?^```/gms, '')
}
