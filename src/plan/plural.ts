// Writes a number with its noun: "1 delete", "2 deletes".

export const plural = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;
