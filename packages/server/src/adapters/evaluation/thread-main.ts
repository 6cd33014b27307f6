/** The evaluation thread: one job at a time. */
import { parentPort } from 'node:worker_threads'
import { answerIssues } from '@stet/template/answer-schema'
import { createPerform, type Job, type JobReply } from './jobs.ts'

const perform = createPerform()

function reply(job: Job): JobReply {
  try {
    return job.operation === 'answer' ? { result: answerIssues(job.schema, job.value) } : perform(job)
  } catch (error) {
    return { failure: error instanceof Error ? error.message : 'The evaluation failed' }
  }
}

parentPort?.postMessage('ready')
parentPort?.on('message', (job: Job) => parentPort?.postMessage(reply(job)))
