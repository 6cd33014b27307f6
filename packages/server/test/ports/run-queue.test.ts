import { createRunQueue } from '../../src/adapters/in-process/run-queue.ts'
import { describeRunQueue } from './run-queue.contract.ts'

describeRunQueue('in process', async (options) => createRunQueue(options))
