import { createRateLimiter } from '../../src/adapters/in-process/rate-limiter.ts'
import { describeRateLimiter } from './rate-limiter.contract.ts'

describeRateLimiter('in process', async () => createRateLimiter())
