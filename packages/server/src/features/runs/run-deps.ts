/** The dependencies of runs. Apart from the ports, because tools and the registry of active runs use these. */
import type { LargeAnswers } from '../providers/model-driver.ts'
import type { ActiveRuns } from './leases/active-runs.ts'
import type {
  EventCodec,
  LeaseStore,
  RunEventLog,
  RunMetrics,
  RunQueue,
  RunSettings,
  RunSignals,
  RunStore,
  StoredLogs,
} from './ports.ts'
import type { ServerTools, ToolCallStore, ToolSignals } from './tools/tool.ts'

export interface RunDeps {
  /** Not part of `stores`, because run rows are written in group commits. */
  store: RunStore
  queue: RunQueue
  signals: RunSignals
  leases: LeaseStore
  eventLog: RunEventLog
  storedLogs: StoredLogs
  codec: EventCodec
  active: ActiveRuns
  metrics: RunMetrics
  settings: RunSettings
  largeAnswers: LargeAnswers
  toolCalls: ToolCallStore
  toolSignals: ToolSignals
  serverTools: ServerTools
}
