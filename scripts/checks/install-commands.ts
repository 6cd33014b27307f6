/**
 * Until the first release, no page and no message may tell users to install our packages by name, because the npm
 * registry does not have them. Delete this check with the first release: CONTRIBUTING.md.
 * No catch is on record; it costs less than a CPU second.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

const COMMAND =
  /\b(?:npm (?:install|i|add|exec)|npx|pnpm (?:add|dlx)|yarn add|bun add)\b(?:[^\n`'"]|", *(?:"args": *\[)?")*@stet\/(?:sdk|cli|server)\b/
// These files describe releases, or contain the commands as test data.
const ABOUT_RELEASES = /^(?:docs\/adr\/|CHANGELOG\.md$|CONTRIBUTING\.md$|scripts\/|.*\.test\.ts$)/

const files = execFileSync('git', ['ls-files', '*.md', '*.ts', '*.mjs'], { encoding: 'utf8' }).trim().split('\n')
const checked = files.filter((file) => !ABOUT_RELEASES.test(file))
const found = checked.flatMap((file) =>
  readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line, index) => (COMMAND.test(line) ? [`${file}:${index + 1}: ${line.trim()}`] : [])),
)

for (const line of found) console.error(`${line}\n  names a package that is not in the npm registry yet`)
console.log(`install commands: ${checked.length} files, ${found.length} problems`)
process.exitCode = found.length === 0 && checked.length > 0 ? 0 : 1
