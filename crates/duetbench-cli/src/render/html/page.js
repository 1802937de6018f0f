'use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const heading = document.createElement('h1');
heading.textContent = data.headline;
document.getElementById('page').append(heading);
