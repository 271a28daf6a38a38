import type { ConnectRequest } from '@tapline/core'

/** The address of an entry. Which of http and https it may be is its dialect's rule. */
export function endpointOf(text: string, error: ConnectRequest['error']): URL {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw error('CONFIG_INVALID', 'The url of the server entry is not an http or https address.')
  }
  if (url.username !== '' || url.password !== '') {
    throw error('CONFIG_INVALID', 'The url of the server entry must not hold a user name or password.', {
      advice: 'Use a header or a stored credential instead.',
    })
  }
  return url
}
