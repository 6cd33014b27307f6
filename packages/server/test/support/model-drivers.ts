import { createModelDrivers } from '../../src/adapters/providers/registry.ts'
import { systemClock } from '../../src/shared/clock.ts'
import type { FakeReplyFor } from './fake-provider.ts'

const limits = { plainBytes: 5000, backoffMs: 1 }
const give = (more: Partial<Record<'firstByteMs' | 'plainMs' | 'silenceMs', number>>) =>
  createModelDrivers({ guard: { allowedPrivateHosts: [] }, clock: systemClock, limits: { ...limits, ...more } })

/** Use the impatient drivers only for replies that hang, because they also fail on a busy machine. */
export function testDrivers() {
  const patient = give({})
  const impatient = give({ firstByteMs: 150, plainMs: 150, silenceMs: 150 })
  return {
    patient,
    impatient,
    forReply: (reply: FakeReplyFor) => (typeof reply === 'object' && 'hang' in reply ? impatient : patient),
    close: () => Promise.all([patient.close(), impatient.close()]),
  }
}
