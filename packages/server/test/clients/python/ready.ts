import type { ClientBench } from '../matrix/client-bench.ts'
import type { PythonClient } from './python-client.ts'

export interface ReadyPython {
  bench: ClientBench
  client: PythonClient
}
