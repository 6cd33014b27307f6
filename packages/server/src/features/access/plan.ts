/** Plans and what they allow, in requests per second; the figures are those of the interface document, section 8. */
import { invalid } from '../../shared/app-error.ts'

export const plans = ['hobby', 'team', 'enterprise', 'custom'] as const
export type Plan = (typeof plans)[number]

const limits = { hobby: 10, team: 166, enterprise: 500 } as const

/** @throws AppError BadRequestError when plan `custom` names no limit. */
export function limitOf(plan: Plan, customLimit: number | null | undefined): number {
  if (plan !== 'custom') return limits[plan]
  if (customLimit === null || customLimit === undefined)
    throw invalid('Invalid request: limit: required for plan custom', {
      issues: [{ path: ['limit'], code: 'custom', message: 'required for plan custom' }],
    })
  return customLimit
}
