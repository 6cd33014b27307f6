import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace'

/** The values of `OTEL_TRACES_SAMPLER`. */
export type SamplerName = 'always_on' | 'always_off' | 'traceidratio' | `parentbased_${RootSamplerName}`
type RootSamplerName = 'always_on' | 'always_off' | 'traceidratio'

/** @param ratio the share of sampled traces, for the ratio samplers. */
export function samplerOf(name: SamplerName, ratio = 1): Sampler {
  const isParentBased = name.startsWith('parentbased_')
  const root = rootSampler(name.replace('parentbased_', ''), ratio)
  return isParentBased ? new ParentBasedSampler({ root }) : root
}

function rootSampler(name: string, ratio: number): Sampler {
  if (name === 'always_off') return new AlwaysOffSampler()
  return name === 'traceidratio' ? new TraceIdRatioBasedSampler(ratio) : new AlwaysOnSampler()
}
