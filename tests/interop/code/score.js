module.exports = (metrics, { threshold, componentResults }) => ({
  pass: metrics.color >= threshold,
  score: componentResults.filter((result) => result.pass).length / 4,
  reason: 'by color',
});
