/** The evaluation thread: one job at a time. */
import { parentPort } from 'node:worker_threads'
import { answerIssues } from '@stet/template/answer-schema'
import type { ForeignRule } from '../../features/templates/template-engine.ts'
import { createPerform, type Job, type JobReply } from './jobs.ts'

const warmUp = '---\nmodel: none\n---\n{{ if a }}<user>{{ a.b }}</user>{{ else }}<step>{{ b = [1] }}</step>{{ endif }}'

const perform = createPerform()
// The first evaluation of a thread takes about 15 ms more, which must not count for the limit of a job.
const source = { path: 'warm-up', content: warmUp, documents: {} }
perform({ operation: 'step', workspaceId: 0, source, step: { parameters: {}, now: new Date(0).toISOString() } })

function reply(job: Job): JobReply {
  try {
    if (job.operation === 'answer') return { result: answerIssues(job.schema, job.value) }
    return job.operation === 'score' ? { result: brokenBy(job.rule) } : perform(job)
  } catch (error) {
    return { failure: error instanceof Error ? error.message : 'The evaluation failed' }
  }
}

function brokenBy(rule: ForeignRule): string | null {
  if ('pattern' in rule) return new RegExp(rule.pattern, rule.flags).test(rule.text) ? null : 'no match'
  const [issue] = answerIssues(rule.schema, rule.value)
  return issue ? `${issue.path === '' ? '' : `${issue.path}: `}${issue.message}` : null
}

parentPort?.postMessage('ready')
parentPort?.on('message', (job: Job) => parentPort?.postMessage(reply(job)))
