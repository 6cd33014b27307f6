/** Runs a GitHub Actions workflow locally: each job that an event starts gets its own checkout. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { parse } from 'yaml'
import { run } from './commands.ts'

interface Step {
  uses?: string
  run?: string
  with?: Record<string, unknown>
}

interface Job {
  if?: string
  needs?: string
  env?: Record<string, string>
  steps: Step[]
}

interface Workflow {
  concurrency: { group: string; 'cancel-in-progress': boolean }
  env?: Record<string, string>
  jobs: Record<string, Job>
}

export type WorkflowContext = Record<'github' | 'vars' | 'secrets', Record<string, unknown>>

/** @returns the names of the jobs that ran */
export async function runWorkflow(
  yaml: string,
  context: WorkflowContext,
  { repository, branch, folder }: { repository: string; branch: string; folder: string },
): Promise<string[]> {
  const workflow: Workflow = parse(yaml)
  const ran: string[] = []
  const skipped: string[] = []
  for (const [name, job] of Object.entries(workflow.jobs)) {
    const isWanted = job.if === undefined || evaluate(job.if, context) === true
    if (!isWanted || skipped.includes(job.needs ?? '')) {
      skipped.push(name)
      continue
    }
    if (job.needs !== undefined && !ran.includes(job.needs)) throw new Error(`${name} runs before ${job.needs}`)
    const checkout = join(folder, name)
    const env = { ...filledIn({ ...workflow.env, ...job.env }, context), ...runnerVariables(context, checkout) }
    console.log(`walk: job ${name}`)
    for (const step of job.steps) {
      if (step.run !== undefined) await run(step.run, checkout, env)
      else if (step.uses?.startsWith('actions/checkout@')) checkOut(repository, branch, checkout, step)
      // Node is already installed.
      else if (!step.uses?.startsWith('actions/setup-node@')) throw new Error(`a step that is not known: ${step.uses}`)
    }
    ran.push(name)
  }
  return ran
}

/** @returns the name that the runs of these events share: each cancels the one before */
export function groupOf(yaml: string, context: WorkflowContext): string | undefined {
  const { concurrency }: Workflow = parse(yaml)
  if (!concurrency['cancel-in-progress']) throw new Error('the workflow cancels no earlier run')
  return filledIn({ group: concurrency.group }, context)['group']
}

function checkOut(repository: string, branch: string, folder: string, step: Step): void {
  const depth = step.with?.['fetch-depth'] ?? 1
  const shallow = depth === 0 ? [] : [`--depth=${depth}`]
  execFileSync('git', ['clone', '-q', ...shallow, '--branch', branch, `file://${repository}`, folder])
}

function runnerVariables({ github }: WorkflowContext, checkout: string): Record<string, string> {
  const { sha, ref_name: ref } = github
  return {
    CI: 'true',
    GITHUB_ACTIONS: 'true',
    GITHUB_SHA: String(sha),
    GITHUB_REF_NAME: String(ref),
    GITHUB_WORKSPACE: checkout,
  }
}

function filledIn(env: Record<string, string>, context: WorkflowContext): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).map(([name, value]) => [
      name,
      value.replaceAll(/\$\{\{(.*?)\}\}/g, (_, expression: string) => String(evaluate(expression, context))),
    ]),
  )
}

// The expressions in our workflow mean the same in JavaScript.
function evaluate(expression: string, context: WorkflowContext): unknown {
  return new Function(...Object.keys(context), `return ${expression}`)(...Object.values(context))
}
