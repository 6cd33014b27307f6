/** Maps the pages of the repository to the site. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** The pages outside `docs`. */
const outside: Record<string, string> = {
  'README.md': 'overview.md',
  'ARCHITECTURE.md': 'architecture.md',
  'CHANGELOG.md': 'changelog.md',
  'CONTRIBUTING.md': 'contributing.md',
  'SECURITY.md': 'reporting.md',
  'bench/NOTES.md': 'bench-notes.md',
}

/** @param page relative to the repository */
export function sitePath(page: string): string {
  return outside[page] ?? page.replace(/^docs\//, '').replace(/(^|\/)README\.md$/, '$1index.md')
}

/** Globs of the repository's Markdown files that are not on the site. */
export function excludedPages(): string[] {
  const folders = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  const unrelated = folders.map(({ name }) => name).filter((name) => name !== 'docs' && name !== 'bench')
  const files = readdirSync(root).filter((name) => name.endsWith('.md') && !(name in outside))
  const benches = readdirSync(join(root, 'bench')).filter((name) => !(`bench/${name}` in outside))
  return [
    ...unrelated.map((name) => `${name}/**`),
    ...files,
    ...benches.flatMap((name) => [`bench/${name}`, `bench/${name}/**`]),
  ]
}

/** Turns a link between files of the repository into a link of the site. @throws Error if it leads to no page */
export function siteLink(page: string, link: string): string {
  const [path = '', heading] = link.split('#')
  const target = join(dirname(page), path)
  if (target === 'LICENSE') return '/LICENSE.txt'
  const isFolder = existsSync(join(root, target)) && statSync(join(root, target)).isDirectory()
  const file = isFolder ? join(target, 'README.md') : target
  const isPage = file in outside || (file.startsWith('docs/') && file.endsWith('.md'))
  if (!isPage || !existsSync(join(root, file)))
    throw new Error(`${page}: the link ${link} leads to no page of the site`)
  return `/${sitePath(file).replace(/(^|\/)index\.md$/, '$1')}${heading === undefined ? '' : `#${heading}`}`
}

/** VitePress checks only the links in pages. @throws Error if a menu or the front page links to no page */
export function checkMenus(site: string, texts: readonly string[]): void {
  const links = texts.flatMap((text) => [...text.matchAll(/\blink"?: ?"?(\/[\w/-]*)/g)].map(([, link = '']) => link))
  const dead = links.filter(
    (link) => !existsSync(join(site, link.endsWith('/') ? `${link}index.html` : `${link}.html`)),
  )
  if (dead.length > 0 || links.length < 50)
    throw new Error(`${dead.length} of ${links.length} menu links are dead: ${dead}`)
}

/** The id that code hosts give a heading. `scripts/checks/links.ts` checks the links against it. */
export function headingId(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-')
}

/** The decisions, latest first. */
export function decisions(): { text: string; link: string }[] {
  const files = readdirSync(join(root, 'docs/adr')).filter((name) => /^\d{4}-/.test(name))
  return files
    .sort()
    .reverse()
    .map((name) => {
      const title = /^# (.*)$/m.exec(readFileSync(join(root, 'docs/adr', name), 'utf8'))?.[1] ?? name
      return { text: title, link: `/adr/${name.replace(/\.md$/, '')}` }
    })
}
