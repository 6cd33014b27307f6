import type { Message } from '@stet/contract/vocabulary'
import { RunError } from '../../shared/app-error.ts'
import type { RunPlan } from './steps/run-plan.ts'
import { nextStep } from './steps/run-plan.ts'
import { append, latitude, type RunCompletion, type RunProgress, type RunWatch } from './steps/run-progress.ts'
import { runStep, type StepDeps } from './steps/run-step.ts'
import { type SetUpDeps, setUpStep } from './steps/set-up-step.ts'
import type { ExecuteRun } from './tools/run-agent.ts'

export type ExecuteDeps = SetUpDeps & StepDeps

/** @throws RunError for every documented failure; the reason of `watch.signal` after an abort. */
export async function executeRun(
  deps: ExecuteDeps,
  plan: RunPlan,
  progress: RunProgress,
  watch: RunWatch,
): Promise<RunCompletion> {
  const { showEvents } = watch
  showEvents([latitude(progress, { type: 'chain-started' })])
  const execute: ExecuteRun = (ofAgent, itsProgress, its) => executeRun(deps, ofAgent, itsProgress, its)
  let answer: Message[] | undefined
  for (;;) {
    const step = await nextStep(deps, plan, answer, { signal: watch.signal, span: watch.span, isRun: true })
    if (step.done) {
      append(progress, step.added)
      if (!progress.answer) throw new RunError('unknown_error', 'The prompt produced no messages')
      return { answer: progress.answer, toolRequests: [] }
    }
    const setUp = await setUpStep(deps, plan, step.config, watch.signal)
    append(progress, step.added)
    const outcome = await runStep(deps, { plan, setUp, progress, input: step.input, execute, ...watch })
    if (outcome.toolRequests.length > 0) {
      const { toolRequests } = outcome
      if (plan.omitsToolsRequested !== true)
        showEvents([latitude(progress, { type: 'tools-requested', tools: toolRequests })])
      return { answer: outcome.answer, toolRequests }
    }
    answer = outcome.output
  }
}
