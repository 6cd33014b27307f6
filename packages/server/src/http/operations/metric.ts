/** A figure of `/metrics` in Prometheus' text form. */
export interface Metric {
  /** With its unit, e.g. `stet_runs_active` or `stet_request_seconds_total`. */
  name: string
  help: string
  type: 'counter' | 'gauge'
  samples: readonly MetricSample[]
}

interface MetricSample {
  labels?: Readonly<Record<string, string>>
  value: number
}

/** All metrics as one text, version 0.0.4 of the exposition format. */
export function renderMetrics(metrics: readonly Metric[]): string {
  return metrics
    .map((metric) => {
      const lines = metric.samples.map((sample) => `${metric.name}${renderLabels(sample.labels)} ${sample.value}`)
      return [`# HELP ${metric.name} ${metric.help}`, `# TYPE ${metric.name} ${metric.type}`, ...lines, ''].join('\n')
    })
    .join('')
}

function renderLabels(labels: MetricSample['labels']): string {
  const pairs = Object.entries(labels ?? {}).map(([name, value]) => `${name}="${escapeLabel(value)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

function escapeLabel(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}
