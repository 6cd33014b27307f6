import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { providersQuery } from '../../queries.ts'
import css from './guide.module.css'

/** Says that no model answers, as long as the demo provider is the only one. */
export function DemoLine() {
  const { data: providers = [] } = useQuery(providersQuery)
  const isDemo = providers.length === 1 && providers[0]?.isDemo
  if (!isDemo) return null
  return (
    <p className={css['demo']}>
      stet’s demo provider is answering, not a model ·{' '}
      <Link to="/settings/$page" params={{ page: 'providers' }}>
        Add a key
      </Link>
    </p>
  )
}
