import { createRunSignals } from '../../src/adapters/in-process/run-signals.ts'
import { describeRunSignals } from './run-signals.contract.ts'

describeRunSignals('in process', async () => createRunSignals())
