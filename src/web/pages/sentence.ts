// A message of review as the beginning of a sentence.
export const sentence = (message: string): string => message.charAt(0).toUpperCase() + message.slice(1);

/** The same with a full stop. */
export const wholeSentence = (message: string): string => `${sentence(message).replace(/\.$/, '')}.`;
